/* Functions of the stand-in for a runtime of GPUs (stub_runtime.c), by which a test says what it claims. */
#ifndef STUB_RUNTIME_H
#define STUB_RUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of a device, pinned memory of the host, or memory that moves between them. */
enum stub_kind { stub_device, stub_pinned, stub_managed };

void stub_claim(const void* address, size_t bytes, enum stub_kind as);
/* Whether the program has initialised the runtime; it has, unless a test says no. */
void stub_initialize(int yes);
/* How many devices, or drivers of Level Zero, an initialised runtime has; one, unless a test says otherwise. */
void stub_set_devices(int number);
/* Whether it is CUDA's library to link with only. */
void stub_link_only(int yes);
void stub_set_version(int number);
/* HIP's last error, which is the program's. */
int stub_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
