// Names of CLI11 for headers. A source that uses more than names includes CLI11 itself, which takes seconds to compile.
#pragma once

namespace CLI {
class App;
class Error;  // NOLINT(bugprone-forward-declaration-namespace): not the library's own
class Formatter;
class Option;
class Validator;
}  // namespace CLI
