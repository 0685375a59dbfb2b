// Turns syncing off for a whole process, libraries included, without any engine knowing.
//
// The executable defines fsync, fdatasync, msync, sync_file_range and open; shared libraries resolve these
// names to the executable before libc. While syncing is off they succeed at once, and open() drops O_DSYNC
// and O_SYNC. A descriptor keeps what it was opened with, so choose before an engine is opened.
#ifndef QUIRE_BENCH_SYNCING_H
#define QUIRE_BENCH_SYNCING_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t calls;    // asked for, by fsync, fdatasync, msync and sync_file_range
    uint64_t made;     // passed on to the kernel
    uint64_t opens;    // descriptors asked for with O_DSYNC or O_SYNC
} syncing_counts;

void syncing_set(bool on);
syncing_counts syncing_count(void);
#endif
