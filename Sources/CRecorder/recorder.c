#define _GNU_SOURCE
#include "recorder.h"

#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_FILES = 1024, IS_OURS = 1, SYNCS = 2 };

static const char *matched;
static int log_file = -1;
static unsigned char files[MOST_FILES];
static long calls, failing;
static int failing_error, failing_on;

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

static ssize_t real_write(int file, const void *bytes, size_t size)
{
    REAL(ssize_t, write, int, const void *, size_t);
    return real(file, bytes, size);
}

static int is_ours(int file) { return file >= 0 && file < MOST_FILES && files[file] & IS_OURS; }

static int is_matched(const char *path)
{
    return matched && strstr(path, matched) && !strstr(path, "-lock") && !strstr(path, "-gate");
}

static void record(int file, char kind, uint64_t offset, const struct iovec *parts, int count, ssize_t size)
{
    if (log_file < 0) return;
    struct recorder_entry entry = {0};
    entry.kind = (uint8_t)kind;
    entry.is_synced = file >= 0 && files[file] & SYNCS ? 1 : 0;
    entry.size = (uint32_t)size;
    entry.offset = offset;
    real_write(log_file, &entry, sizeof entry);
    for (int i = 0; i < count && size > 0; i++) {
        size_t part = parts[i].iov_len < (size_t)size ? parts[i].iov_len : (size_t)size;
        real_write(log_file, parts[i].iov_base, part);
        size -= (ssize_t)part;
    }
}

/* True if this call is the one that fails. */
static int fails(int file)
{
    if (!is_ours(file)) return 0;
    calls++;
    if (failing == 0 || (failing_on ? calls < failing : calls != failing)) return 0;
    errno = failing_error;
    return 1;
}

void recorder_start(const char *name, int log)
{
    matched = name;
    log_file = log;
}

void recorder_acknowledge(uint64_t number) { record(-1, 'A', number, NULL, 0, 0); }

long recorder_fail(long n, int error, int is_sticky)
{
    long before = calls;
    calls = 0;
    failing = n;
    failing_error = error;
    failing_on = is_sticky;
    return before;
}

static int opened(const char *path, int flags, int file)
{
    if (file >= 0 && file < MOST_FILES) {
        files[file] = is_matched(path) ? IS_OURS | (flags & (O_DSYNC | O_SYNC) ? SYNCS : 0) : 0;
    }
    return file;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        REAL(int, name, const char *, int, ...); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list rest; \
            va_start(rest, flags); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
        } \
        return opened(path, flags, real(path, flags, mode)); \
    }
OPEN(open)
OPEN(open64)

int close(int file)
{
    REAL(int, close, int);
    if (file >= 0 && file < MOST_FILES) files[file] = 0;
    return real(file);
}

int link(const char *from, const char *to)
{
    REAL(int, link, const char *, const char *);
    int status = real(from, to);
    if (status == 0 && is_matched(to)) record(-1, 'L', 0, NULL, 0, 0);
    return status;
}

static ssize_t written(int file, off_t offset, const struct iovec *parts, int count, ssize_t size)
{
    if (size > 0 && is_ours(file)) record(file, 'W', (uint64_t)offset, parts, count, size);
    return size;
}

#define PWRITE(name, offset_type) \
    ssize_t name(int file, const void *bytes, size_t size, offset_type offset) \
    { \
        REAL(ssize_t, name, int, const void *, size_t, offset_type); \
        if (fails(file)) return -1; \
        struct iovec part = {(void *)bytes, size}; \
        return written(file, offset, &part, 1, real(file, bytes, size, offset)); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int file, const void *bytes, size_t size)
{
    if (fails(file)) return -1;
    off_t offset = is_ours(file) ? lseek(file, 0, SEEK_CUR) : 0;
    struct iovec part = {(void *)bytes, size};
    return written(file, offset, &part, 1, real_write(file, bytes, size));
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (fails(file)) return -1;
    off_t offset = is_ours(file) ? lseek(file, 0, SEEK_CUR) : 0;
    return written(file, offset, parts, count, real(file, parts, count));
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
    if (fails(file)) return -1;
    return written(file, offset, parts, count, real(file, parts, count, offset));
}

int ftruncate(int file, off_t size)
{
    REAL(int, ftruncate, int, off_t);
    if (fails(file)) return -1;
    int status = real(file, size);
    if (status == 0 && is_ours(file)) record(file, 'T', (uint64_t)size, NULL, 0, 0);
    return status;
}

#define SYNC(name) \
    int name(int file) \
    { \
        REAL(int, name, int); \
        if (fails(file)) return -1; \
        int status = real(file); \
        if (status == 0 && is_ours(file)) record(file, 'S', 0, NULL, 0, 0); \
        return status; \
    }
SYNC(fsync)
SYNC(fdatasync)

#else

void recorder_start(const char *name, int log) { (void)name; (void)log; }
void recorder_acknowledge(uint64_t number) { (void)number; }
long recorder_fail(long n, int error, int is_sticky) { (void)n; (void)error; (void)is_sticky; return 0; }

#endif
