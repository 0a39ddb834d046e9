/* The files by which a system shows that it has GPUs. A test chooses them, whatever this machine has. */
#ifndef DEVICE_FILES_H
#define DEVICE_FILES_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on `path` is the only one of these files that exists; NULL, as at the beginning: none exists. */
void set_device_file(const char* path);

#ifdef __cplusplus
}
#endif
#endif
