#define _GNU_SOURCE
#include "recorder.h"

#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a file is to us. */
enum { COUNTED = 1, RECORDED = 2, SYNCS = 4, FOLDER = 8 };

/* How a call can fail. */
enum { IO = 1, SPACE = 2, INTERRUPTED = 4, SHORT = 8, NO_MEMORY = 16, NEVER = 0, WRITES = IO | SPACE | INTERRUPTED };

enum { MOST_FILES = 1024 };

static const char *matched;
static int log_file = -1;
static unsigned char files[MOST_FILES];
/* LMDB copies with a thread of its own. */
static _Atomic long calls, failures, syncs;
static long failing;
static int failing_error, failing_on;

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

static ssize_t real_write(int file, const void *bytes, size_t size)
{
    REAL(ssize_t, write, int, const void *, size_t);
    return real(file, bytes, size);
}

static int what(int file) { return file >= 0 && file < MOST_FILES ? files[file] : 0; }

static int what_path(const char *path)
{
    if (!matched || !path) return 0;
    size_t size = strlen(path);
    if (strncmp(path, matched, strlen(matched)) == 0) {
        const char *rest = path + strlen(matched);
        return strstr(rest, "-lock") || strstr(rest, "-open") ? COUNTED : COUNTED | RECORDED;
    }
    int holds = strncmp(path, matched, size) == 0 && matched[size] == '/' && !strchr(matched + size + 1, '/');
    return holds ? COUNTED | FOLDER : 0;
}

static uint64_t number_of(int file)
{
    REAL(int, fstat, int, struct stat *);
    struct stat status;
    return file >= 0 && real(file, &status) == 0 ? status.st_ino : 0;
}

static void record(int file, char kind, uint64_t offset, const struct iovec *parts, int count, ssize_t size)
{
    if (log_file < 0) return;
    struct recorder_entry entry = {0};
    entry.kind = (uint8_t)kind;
    entry.file = number_of(file);
    entry.is_synced = what(file) & SYNCS ? 1 : 0;
    entry.size = (uint32_t)size;
    entry.offset = offset;
    real_write(log_file, &entry, sizeof entry);
    for (int i = 0; i < count && size > 0; i++) {
        size_t part = parts[i].iov_len < (size_t)size ? parts[i].iov_len : (size_t)size;
        real_write(log_file, parts[i].iov_base, part);
        size -= (ssize_t)part;
    }
}

/* How this call is to fail, of the ways in which it can; 0: it is not. */
static int fault(int target, int ways)
{
    if (!(target & COUNTED)) return 0;
    long call = ++calls;
    if (failing == 0 || (failing_on ? call < failing : call != failing)) return 0;
    int way;
    switch (failing_error) {
    case RECORDER_KILL: kill(getpid(), SIGKILL); return 0;
    case RECORDER_SHORT: way = SHORT; break;
    case EINTR: way = INTERRUPTED; break;
    case ENOSPC: way = SPACE; break;
    default: way = IO;
    }
    if (ways & NO_MEMORY && way == IO) {
        failures++;
        errno = ENOMEM;
        return IO;
    }
    if (!(ways & way)) return 0;
    failures++;
    errno = failing_error > 0 ? failing_error : 0;
    return way;
}

void recorder_start(const char *path, int log)
{
    matched = path;
    log_file = log;
}

void recorder_acknowledge(uint64_t number) { record(-1, 'A', number, NULL, 0, 0); }

struct recorder_count recorder_fail(long n, int error, int is_sticky)
{
    struct recorder_count before = {calls, failures, syncs};
    calls = failures = syncs = 0;
    failing = n;
    failing_error = error;
    failing_on = is_sticky;
    return before;
}

/* MARK: names */

static int opened(const char *path, int flags, int file)
{
    if (file >= 0 && file < MOST_FILES) {
        files[file] = (unsigned char)(what_path(path) | (flags & (O_DSYNC | O_SYNC) ? SYNCS : 0));
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
        if (fault(what_path(path), WRITES)) return -1; \
        return opened(path, flags, real(path, flags, mode)); \
    }
OPEN(open)
OPEN(open64)

int close(int file)
{
    REAL(int, close, int);
    fault(what(file), NEVER);
    if (file >= 0 && file < MOST_FILES) files[file] = 0;
    return real(file);
}

int link(const char *from, const char *to)
{
    REAL(int, link, const char *, const char *);
    if (fault(what_path(to), IO | SPACE)) return -1;
    int status = real(from, to);
    if (status == 0 && what_path(to) & RECORDED) {
        int file = open(to, O_RDONLY | O_CLOEXEC);
        record(file, 'L', 0, NULL, 0, 0);
        close(file);
    }
    return status;
}

int unlink(const char *path)
{
    REAL(int, unlink, const char *);
    return fault(what_path(path), IO) ? -1 : real(path);
}

int stat(const char *restrict path, struct stat *restrict status)
{
    REAL(int, stat, const char *, struct stat *);
    return fault(what_path(path), IO) ? -1 : real(path, status);
}

int fstat(int file, struct stat *status)
{
    REAL(int, fstat, int, struct stat *);
    return fault(what(file), IO) ? -1 : real(file, status);
}

/* What programs call that were built for an older libc, LMDB among them. */
int __fxstat(int version, int file, struct stat *status)
{
    REAL(int, __fxstat, int, int, struct stat *);
    return fault(what(file), IO) ? -1 : real(version, file, status);
}

int fchmod(int file, mode_t mode)
{
    REAL(int, fchmod, int, mode_t);
    return fault(what(file), IO) ? -1 : real(file, mode);
}

#define CONTROL(name) \
    int name(int file, int command, ...) \
    { \
        REAL(int, name, int, int, void *); \
        va_list rest; \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        /* whether a file stays open for programs that are started is nothing a disk can refuse */ \
        int ways = command == F_SETFD || command == F_GETFD ? NEVER : IO; \
        return fault(what(file), ways) ? -1 : real(file, command, argument); \
    }
CONTROL(fcntl)
CONTROL(fcntl64)

/* MARK: reading */

#define MAP(name, offset_type) \
    void *name(void *address, size_t size, int protection, int flags, int file, offset_type offset) \
    { \
        REAL(void *, name, void *, size_t, int, int, int, offset_type); \
        if (fault(what(file), NO_MEMORY)) return MAP_FAILED; \
        return real(address, size, protection, flags, file, offset); \
    }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

#define PREAD(name, offset_type) \
    ssize_t name(int file, void *bytes, size_t size, offset_type offset) \
    { \
        REAL(ssize_t, name, int, void *, size_t, offset_type); \
        return fault(what(file), IO | INTERRUPTED) ? -1 : real(file, bytes, size, offset); \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define SEEK(name, offset_type) \
    offset_type name(int file, offset_type offset, int whence) \
    { \
        REAL(offset_type, name, int, offset_type, int); \
        return fault(what(file), IO) ? -1 : real(file, offset, whence); \
    }
SEEK(lseek, off_t)
SEEK(lseek64, off64_t)

/* MARK: writing */

static off_t position(int file)
{
    static off_t (*real)(int, off_t, int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "lseek");
    return real(file, 0, SEEK_CUR);
}

static ssize_t written(int file, off_t offset, const struct iovec *parts, int count, ssize_t size)
{
    if (size > 0 && what(file) & RECORDED) record(file, 'W', (uint64_t)offset, parts, count, size);
    return size;
}

#define PWRITE(name, offset_type) \
    ssize_t name(int file, const void *bytes, size_t size, offset_type offset) \
    { \
        REAL(ssize_t, name, int, const void *, size_t, offset_type); \
        int fails = fault(what(file), WRITES | SHORT); \
        if (fails && fails != SHORT) return -1; \
        if (fails) size /= 2; \
        struct iovec part = {(void *)bytes, size}; \
        return written(file, offset, &part, 1, real(file, bytes, size, offset)); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int file, const void *bytes, size_t size)
{
    int fails = fault(what(file), WRITES | SHORT);
    if (fails && fails != SHORT) return -1;
    if (fails) size /= 2;
    off_t offset = what(file) & RECORDED ? position(file) : 0;
    struct iovec part = {(void *)bytes, size};
    return written(file, offset, &part, 1, real_write(file, bytes, size));
}

/* Of several parts the last is not written if the call is cut short. */
ssize_t writev(int file, const struct iovec *parts, int count)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    int fails = fault(what(file), count > 1 ? WRITES | SHORT : WRITES);
    if (fails && fails != SHORT) return -1;
    if (fails) count--;
    off_t offset = what(file) & RECORDED ? position(file) : 0;
    return written(file, offset, parts, count, real(file, parts, count));
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
    int fails = fault(what(file), count > 1 ? WRITES | SHORT : WRITES);
    if (fails && fails != SHORT) return -1;
    if (fails) count--;
    return written(file, offset, parts, count, real(file, parts, count, offset));
}

int ftruncate(int file, off_t size)
{
    REAL(int, ftruncate, int, off_t);
    if (fault(what(file), WRITES)) return -1;
    int status = real(file, size);
    if (status == 0 && what(file) & RECORDED) record(file, 'T', (uint64_t)size, NULL, 0, 0);
    return status;
}

#define SYNC(name) \
    int name(int file) \
    { \
        REAL(int, name, int); \
        if (fault(what(file), WRITES)) { \
            syncs++; \
            return -1; \
        } \
        int status = real(file); \
        if (status == 0 && what(file) & RECORDED) record(file, 'S', 0, NULL, 0, 0); \
        if (status == 0 && what(file) & FOLDER) record(file, 'D', 0, NULL, 0, 0); \
        return status; \
    }
SYNC(fsync)
SYNC(fdatasync)

#else

void recorder_start(const char *path, int log) { (void)path; (void)log; }
void recorder_acknowledge(uint64_t number) { (void)number; }
struct recorder_count recorder_fail(long n, int error, int is_sticky)
{
    (void)n; (void)error; (void)is_sticky;
    return (struct recorder_count){0, 0, 0};
}

#endif
