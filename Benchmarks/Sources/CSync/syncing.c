#define _GNU_SOURCE
#include "syncing.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>

static atomic_bool is_on = true;
static atomic_uint_fast64_t calls, made, opens;

void syncing_set(bool on) { atomic_store(&is_on, on); }

syncing_counts syncing_count(void)
{
    return (syncing_counts){atomic_load(&calls), atomic_load(&made), atomic_load(&opens)};
}

static bool passes(void)
{
    atomic_fetch_add(&calls, 1);
    if (!atomic_load(&is_on)) return false;
    atomic_fetch_add(&made, 1);
    return true;
}

int fsync(int file) { return passes() ? (int)syscall(SYS_fsync, file) : 0; }

int fdatasync(int file) { return passes() ? (int)syscall(SYS_fdatasync, file) : 0; }

int msync(void *start, size_t length, int flags)
{
    return passes() ? (int)syscall(SYS_msync, start, length, flags) : 0;
}

int sync_file_range(int file, off_t offset, off_t length, unsigned flags)
{
    return passes() ? (int)syscall(SYS_sync_file_range, file, offset, length, flags) : 0;
}

// O_SYNC contains the bit of O_DSYNC.
static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    if (flags & O_DSYNC) {
        atomic_fetch_add(&opens, 1);
        if (!atomic_load(&is_on)) flags &= ~O_SYNC;
    }
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

static bool has_mode(int flags) { return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; }

#define OPEN_AT(folder)                                    \
    mode_t mode = 0;                                       \
    if (has_mode(flags)) {                                 \
        va_list rest;                                      \
        va_start(rest, flags);                             \
        mode = va_arg(rest, mode_t);                       \
        va_end(rest);                                      \
    }                                                      \
    return open_at(folder, path, flags, mode)

int open(const char *path, int flags, ...) { OPEN_AT(AT_FDCWD); }
int open64(const char *path, int flags, ...) { OPEN_AT(AT_FDCWD); }
int openat(int folder, const char *path, int flags, ...) { OPEN_AT(folder); }
int openat64(int folder, const char *path, int flags, ...) { OPEN_AT(folder); }

#else
#error "the benchmark measures on Linux: it reads /proc and replaces libc's fsync"
#endif
