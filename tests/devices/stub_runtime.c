/* A stand-in for a runtime of GPUs, which claims the addresses that a test names. It is compiled as CUDA's driver
 * (CUDA), as HIP (HIP) or as Level Zero (LEVEL_ZERO), and has only the functions that Circoll calls. */
#include <stddef.h>
#include <stdint.h>

#include "stub_runtime.h"

static const char* begin;
static size_t size;
static enum stub_kind kind;
static int initialized = 1;
static int devices = 1;
static int link_only;
static int version = 60000000;
static int last_error;

void stub_claim(const void* address, size_t bytes, enum stub_kind as) {
  begin = address;
  size = bytes;
  kind = as;
}

void stub_initialize(int yes) { initialized = yes; }

void stub_set_devices(int number) { devices = number; }

void stub_link_only(int yes) { link_only = yes; }

void stub_set_version(int number) { version = number; }

int stub_last_error(void) { return last_error; }

static int is_claimed(const void* address) {
  return (uintptr_t)address >= (uintptr_t)begin && (uintptr_t)address < (uintptr_t)begin + size;
}

#ifdef CUDA
int cuDeviceGetCount(int* count) {
  if (link_only) return 34;
  if (!initialized) return 3;
  *count = devices;
  return devices == 0 ? 100 : 0;
}

int cuPointerGetAttribute(void* value, int attribute, unsigned long long address) {
  if (!initialized) return 3;
  if (attribute != 2 || !is_claimed((const void*)(uintptr_t)address)) return 1;
  *(unsigned*)value = kind == stub_pinned ? 1 : 2;
  return 0;
}
#endif

#ifdef HIP
int hipPointerGetAttribute(void* value, int attribute, void* address) {
  last_error = attribute != 2 || !is_claimed(address) ? 1 : 0;
  if (last_error != 0) return last_error;
  if (version >= 60000000)
    *(unsigned*)value = kind == stub_pinned ? 1 : kind == stub_device ? 2 : 3;
  else
    *(unsigned*)value = kind == stub_pinned ? 0 : kind == stub_device ? 1 : 4;
  return 0;
}

int hipRuntimeGetVersion(int* number) {
  *number = version;
  return 0;
}

int hipPeekAtLastError(void) { return last_error; }

int hipGetLastError(void) {
  const int error = last_error;
  last_error = 0;
  return error;
}
#endif

#ifdef LEVEL_ZERO
struct properties {
  int32_t structure;
  void* next;
  int32_t type;
};

/* UCX 1.23 calls this, and then leaves Level Zero alone. */
int zeInit(uint32_t flags) {
  (void)flags;
  return 0x78000001;
}

int zeDriverGet(uint32_t* count, void** drivers) {
  if (!initialized) return 0x78000001;
  if (drivers != NULL && *count > 0 && devices > 0) drivers[0] = &version;
  *count = (uint32_t)devices;
  return 0;
}

int zeContextCreate(void* driver, const int32_t* description, void** context) {
  if (driver != &version || *description != 0xd) return 0x78000004;
  *context = &size;
  return 0;
}

int zeMemGetAllocProperties(void* context, const void* address, struct properties* found, void** device) {
  if (context != &size || found->structure != 0x17 || device != NULL) return 0x78000004;
  found->type = !is_claimed(address) ? 0 : kind == stub_pinned ? 1 : kind == stub_device ? 2 : 3;
  return 0;
}
#endif
