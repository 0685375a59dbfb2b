/* The system's LMDB, and what Swift has no word for. */
#include <lmdb.h>

/* The cache line at this address is about to be read; the address need not be mapped. */
static inline void quire_prefetch(const void *address) { __builtin_prefetch(address); }

#ifdef __linux__
#include <errno.h>
#include <linux/falloc.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/vfs.h>

int fallocate(int file, int mode, off_t offset, off_t size);

/* Room on the disk for the first bytes of a file, whatever its size. Returns 0 or an error number. */
static inline int quire_reserve(int file, off_t size)
{
    return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, size) == 0 ? 0 : errno;
}

/* The number of the file system that holds a path, 0 if there is none. Swift does not import statfs(2). */
static inline uint64_t quire_file_system(const char *path)
{
    struct statfs status;
    return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}
#endif
