/* The system's LMDB, and what Swift has no word for. */
#include <lmdb.h>

/* The cache line at this address is about to be read; the address need not be mapped. */
static inline void quire_prefetch(const void *address) { __builtin_prefetch(address); }

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static inline uint64_t quire_big_endian(const void *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return word;
#else
    return __builtin_bswap64(word);
#endif
}

/* The order of LMDB's own comparison, for keys of mostly 6 to 14 bytes: their first eight bytes at once, then
   their last eight, some of which are equal already. */
static inline int quire_compare_keys(const MDB_val *a, const MDB_val *b)
{
    const uint8_t *x = (const uint8_t *)a->mv_data, *y = (const uint8_t *)b->mv_data;
    const size_t common = a->mv_size < b->mv_size ? a->mv_size : b->mv_size;
    if (common >= 8 && common <= 16) {
        uint64_t v = quire_big_endian(x), w = quire_big_endian(y);
        if (v != w) return v < w ? -1 : 1;
        v = quire_big_endian(x + common - 8), w = quire_big_endian(y + common - 8);
        if (v != w) return v < w ? -1 : 1;
    } else {
        const int order = memcmp(x, y, common);
        if (order != 0) return order;
    }
    return (a->mv_size > b->mv_size) - (a->mv_size < b->mv_size);
}

/* Zeroed memory from the system; NULL and errno if it has none. */
static inline void *quire_map(size_t size)
{
    void *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? 0 : memory;
}

/* Gives it back. Nothing happens if there is none. */
static inline void quire_unmap(void *memory, size_t size)
{
    if (memory) munmap(memory, size);
}

/* CRC32C (polynomial 0x1EDC6F41, reflected) of `count` bytes in four lanes: word k of eight bytes goes to lane
   k mod 4, so that a processor works on four at a time. The lanes, the count and the last bytes that fill no
   row of four words then go through one more CRC32C. Docs/on-disk.md describes it. */
static inline uint32_t quire_crc_byte(uint32_t crc, uint8_t byte)
{
    static const uint32_t nibbles[16] = {
        0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
        0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
    };
    crc ^= byte;
    crc = crc >> 4 ^ nibbles[crc & 15];
    return crc >> 4 ^ nibbles[crc & 15];
}

static inline uint32_t quire_crc_word(uint32_t crc, uint64_t word)
{
    for (int shift = 0; shift < 64; shift += 8) crc = quire_crc_byte(crc, (uint8_t)(word >> shift));
    return crc;
}

static inline uint64_t quire_little_endian(const void *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The same text for each kind of processor. */
#define QUIRE_CHECKSUM(name, word, byte) \
    static inline uint32_t name(const void *bytes, size_t count) \
    { \
        const uint8_t *at = (const uint8_t *)bytes; \
        uint32_t a = ~0u, b = 1, c = 2, d = 3; \
        size_t left = count; \
        for (; left >= 32; at += 32, left -= 32) { \
            a = word(a, quire_little_endian(at)); \
            b = word(b, quire_little_endian(at + 8)); \
            c = word(c, quire_little_endian(at + 16)); \
            d = word(d, quire_little_endian(at + 24)); \
        } \
        a = word(a, (uint64_t)b << 32 | c); \
        a = word(a, (uint64_t)d << 32 | (uint32_t)count); \
        for (; left >= 8; at += 8, left -= 8) a = word(a, quire_little_endian(at)); \
        for (; left > 0; at++, left--) a = byte(a, *at); \
        return a; \
    }

QUIRE_CHECKSUM(quire_checksum_by_table, quire_crc_word, quire_crc_byte)

#if defined(__x86_64__)
#define QUIRE_CRC_WORD(crc, word) (uint32_t)__builtin_ia32_crc32di(crc, word)
#define QUIRE_CRC_BYTE(crc, byte) __builtin_ia32_crc32qi(crc, byte)
__attribute__((target("sse4.2"))) QUIRE_CHECKSUM(quire_checksum_by_processor, QUIRE_CRC_WORD, QUIRE_CRC_BYTE)
static inline int quire_has_crc(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
QUIRE_CHECKSUM(quire_checksum_by_processor, __crc32cd, __crc32cb)
static inline int quire_has_crc(void) { return 1; }
#else
static inline int quire_has_crc(void) { return 0; }
#define quire_checksum_by_processor quire_checksum_by_table
#endif

static inline uint32_t quire_checksum(const void *bytes, size_t count)
{
    return quire_has_crc() ? quire_checksum_by_processor(bytes, count) : quire_checksum_by_table(bytes, count);
}

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>

/* fcntl(2): a lock that belongs to the open file, not to the process. */
static const int quire_set_open_file_lock = 37;

#if defined(__GLIBC__)
int pthread_mutex_clocklock(pthread_mutex_t *, clockid_t, const struct timespec *);
#endif

/* Locks a mutex, or returns ETIMEDOUT when the monotonic clock shows `end`. */
static inline int quire_lock_until(pthread_mutex_t *mutex, const struct timespec *end)
{
#if defined(__GLIBC__)
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, end);
#else
    const struct timespec pause = { 0, 1000000 };
    struct timespec now;
    for (;;) {
        int status = pthread_mutex_trylock(mutex);
        if (status != EBUSY) return status;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec))
            return ETIMEDOUT;
        nanosleep(&pause, 0);
    }
#endif
}

int fallocate(int, int, off_t, off_t);

/* Gives the first `size` bytes of a file blocks of the disk, keeping what they hold. 0 or an error number;
   0 also where the file system cannot. */
static inline int quire_allocate(int descriptor, off_t size)
{
    if (fallocate(descriptor, 0, 0, size) == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return 0;
    return errno;
}

/* The largest size of a file that this process may write, UINT64_MAX if there is no limit. */
static inline uint64_t quire_file_size_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    return limit.rlim_cur;
}

/* Writing beyond that limit kills the process by SIGXFSZ, unless the thread holds the signal back. */
static inline void quire_hold_size_signal(sigset_t *before)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, before);
}

/* Lets it through again; one that came meanwhile is forgotten, the failed write tells as much. */
static inline void quire_release_size_signal(const sigset_t *before)
{
    const struct timespec now = { 0, 0 };
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ)) while (sigtimedwait(&signals, 0, &now) > 0) {}
    pthread_sigmask(SIG_SETMASK, before, 0);
}

/* The number of the file system that holds a path, 0 if there is none. Swift does not import statfs(2). */
static inline uint64_t quire_file_system(const char *path)
{
    struct statfs status;
    return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}
#endif
