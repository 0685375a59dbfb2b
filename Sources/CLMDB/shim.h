/* The system's LMDB, and a hint to the processor that Swift has no word for. */
#include <lmdb.h>

/* The cache line at this address is about to be read; the address need not be mapped. */
static inline void quire_prefetch(const void *address) { __builtin_prefetch(address); }

#ifdef __linux__
#include <stdint.h>
#include <sys/vfs.h>

/* The number of the file system that holds a path, 0 if there is none. Swift does not import statfs(2). */
static inline uint64_t quire_file_system(const char *path)
{
    struct statfs status;
    return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}
#endif
