/* The files by which a system shows that it has GPUs, as a test wants them, whatever this machine has. */
#ifndef DEVICE_FILES_H
#define DEVICE_FILES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The one of them that there is from now on; NULL, as at the beginning: none. */
void set_device_file(const char* path);

#ifdef __cplusplus
}
#endif
#endif
