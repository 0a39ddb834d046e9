/* access(), in front of the C library's: a program that is linked with it has the GPUs that its test wants. */
#define _GNU_SOURCE
#include "device_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char* present;

void set_device_file(const char* path) { present = path; }

int access(const char* path, int mode) {
  static const char* const known[] = {"/dev/nvidiactl", "/proc/driver/nvidia", "/dev/nvmap", "/dev/dxg", "/dev/kfd"};
  size_t i;
  for (i = 0; i < sizeof known / sizeof *known; ++i) {
    if (strcmp(path, known[i]) != 0) continue;
    if (present != NULL && strcmp(path, present) == 0) return 0;
    errno = ENOENT;
    return -1;
  }
  return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}
