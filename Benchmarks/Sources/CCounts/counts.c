#define _GNU_SOURCE
#include "counts.h"

#include <dlfcn.h>
#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>

static __thread call_counts counts;
static __thread int depth; // LMDB calls some of its functions by way of others

call_counts call_counts_now(void) { return counts; }

#define PASS_ON(name, counted, parameters, ...)                                  \
    int name parameters                                                          \
    {                                                                            \
        static int(*next) parameters;                                            \
        if (!__atomic_load_n(&next, __ATOMIC_RELAXED))                           \
            __atomic_store_n(&next, dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED);  \
        if (depth++ == 0) counts.counted++;                                      \
        int result = next(__VA_ARGS__);                                          \
        depth--;                                                                 \
        return result;                                                           \
    }

PASS_ON(mdb_get, reads, (MDB_txn * txn, MDB_dbi dbi, MDB_val *key, MDB_val *data), txn, dbi, key, data)
PASS_ON(mdb_cursor_get, reads, (MDB_cursor * cursor, MDB_val *key, MDB_val *data, MDB_cursor_op step), cursor, key,
        data, step)
PASS_ON(mdb_put, writes, (MDB_txn * txn, MDB_dbi dbi, MDB_val *key, MDB_val *data, unsigned flags), txn, dbi, key,
        data, flags)
PASS_ON(mdb_cursor_put, writes, (MDB_cursor * cursor, MDB_val *key, MDB_val *data, unsigned flags), cursor, key, data,
        flags)
PASS_ON(mdb_del, writes, (MDB_txn * txn, MDB_dbi dbi, MDB_val *key, MDB_val *data), txn, dbi, key, data)
PASS_ON(mdb_cursor_del, writes, (MDB_cursor * cursor, unsigned flags), cursor, flags)

// glibc's own names. free() need not be replaced.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void count(size_t size)
{
    counts.allocations++;
    counts.allocated += size;
}

void *malloc(size_t size)
{
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    count(size);
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    void *memory = aligned_alloc(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}
