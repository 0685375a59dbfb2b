#define _GNU_SOURCE
#include "recorder.h"

/* Sanitizers stand before malloc themselves. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(SANITIZED)

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

/* The real malloc and its like, under names that nothing interposes. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic long allocations, failing;

static int fails(void)
{
    long number = ++allocations;
    if (failing == 0 || number < failing) return 0;
    errno = ENOMEM;
    return 1;
}

long recorder_fail_allocation(long n)
{
    long before = allocations;
    allocations = 0;
    failing = n;
    return before;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **place, size_t alignment, size_t size)
{
    void *memory = memalign(alignment, size);
    if (!memory) return ENOMEM;
    *place = memory;
    return 0;
}

#else

long recorder_fail_allocation(long n) { (void)n; return 0; }

#endif
