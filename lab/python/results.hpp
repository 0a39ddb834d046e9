// Results of the library as objects of circoll.results, the dataclasses that Python's users get.
#pragma once

#include <pybind11/pybind11.h>

#include "circoll/algorithm.hpp"
#include "circoll/model.hpp"
#include "circoll/select.hpp"
#include "circoll/verify.hpp"
#include "faults/faults.hpp"

namespace circoll::python {

/// An object of a class of circoll.results, whose fields are given in the order of the class. Needs the lock.
template <class... Fields>
pybind11::object plain(const char* name, Fields&&... fields) {
  return pybind11::module_::import("circoll.results").attr(name)(std::forward<Fields>(fields)...);
}

[[nodiscard]] pybind11::object python_of(const Needs& needs);
[[nodiscard]] pybind11::object python_of(const Guarantees& guarantees);
[[nodiscard]] pybind11::object python_of(const Cost& cost);
[[nodiscard]] pybind11::object python_of(const Terms& terms);
[[nodiscard]] pybind11::object python_of(const Ranked& ranked);
[[nodiscard]] pybind11::object python_of(const Decision& decision);
[[nodiscard]] pybind11::object python_of(const Refutation& refutation);
[[nodiscard]] pybind11::object python_of(const RangeVerdict& verdict);
[[nodiscard]] pybind11::object python_of(const Repair& repair);

/// Lets pybind11 return a result. The conversion holds the lock, also of a function that runs without it.
template <class Result>
struct ResultCaster {
  static constexpr auto name = pybind11::detail::const_name("object");
  static pybind11::handle cast(const Result& found, pybind11::return_value_policy /*policy*/,
                               pybind11::handle /*parent*/) {
    return python_of(found).release();
  }
};

}  // namespace circoll::python

template <>
struct pybind11::detail::type_caster<circoll::Needs> : circoll::python::ResultCaster<circoll::Needs> {};
template <>
struct pybind11::detail::type_caster<circoll::Guarantees> : circoll::python::ResultCaster<circoll::Guarantees> {};
template <>
struct pybind11::detail::type_caster<circoll::Cost> : circoll::python::ResultCaster<circoll::Cost> {};
template <>
struct pybind11::detail::type_caster<circoll::Terms> : circoll::python::ResultCaster<circoll::Terms> {};
template <>
struct pybind11::detail::type_caster<circoll::Ranked> : circoll::python::ResultCaster<circoll::Ranked> {};
template <>
struct pybind11::detail::type_caster<circoll::Decision> : circoll::python::ResultCaster<circoll::Decision> {};
template <>
struct pybind11::detail::type_caster<circoll::Refutation> : circoll::python::ResultCaster<circoll::Refutation> {};
template <>
struct pybind11::detail::type_caster<circoll::RangeVerdict> : circoll::python::ResultCaster<circoll::RangeVerdict> {};
template <>
struct pybind11::detail::type_caster<circoll::Repair> : circoll::python::ResultCaster<circoll::Repair> {};
