/* Functions of the stand-in for a runtime of GPUs (stub_runtime.c), by which a test chooses the claimed addresses. */
#ifndef STUB_RUNTIME_H
#define STUB_RUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of a device, pinned memory of the host, or memory that moves between them. */
enum stub_kind { stub_device, stub_pinned, stub_managed };

void stub_claim(const void* address, size_t bytes, enum stub_kind as);
/* Says whether the program has initialised the runtime. It has, unless a test says no. */
void stub_initialize(int yes);
/* Sets the number of devices, or drivers of Level Zero, of an initialised runtime. It is one unless a test sets it. */
void stub_set_devices(int number);
/* Says whether this library is the one of CUDA that programs only link with. */
void stub_link_only(int yes);
void stub_set_version(int number);
/* HIP's last error, which belongs to the program. */
int stub_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
