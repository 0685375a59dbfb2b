/*
 * Records what this process does to one file, in order, and makes calls fail. Linked into a program, its
 * functions stand before those of libc for every library of the process, LMDB among them. Linux only.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdint.h>

/* What a record of the log is about. After it come `size` bytes. Written in the machine's own byte order. */
struct recorder_entry {
    /* 'W' bytes written at `offset`, 'S' synced, 'T' cut to `offset` bytes, 'L' got its name, 'D' its folder
       was synced, 'A' the program acknowledged `offset`. */
    uint8_t kind;
    /* Written through a descriptor that syncs each write. */
    uint8_t is_synced;
    uint16_t unused;
    uint32_t size;
    uint64_t offset;
    /* Which file, by its number in the file system; 0 where no file is meant. */
    uint64_t file;
};

/* From now on the calls that touch `path`, or a file whose path begins with it, or their folder, are counted.
   Writes to such files, except those with "-lock" or "-open" in their name, go to `log`, unless that is -1.
   `path` must stay. */
void recorder_start(const char *path, int log);

void recorder_acknowledge(uint64_t number);

/* In place of an error number. */
enum {
    RECORDER_SHORT = -1, /* half of what was to be written is */
    RECORDER_KILL = -2   /* the process is killed just before the call */
};

struct recorder_count {
    long calls;
    /* Those that failed: not every call can fail in every way. */
    long failures;
    /* Of these, syncs: what was written before may be lost, and the caller has to be told. */
    long syncs;
};

/* The n-th counted call from now on, 1 is the next, fails in this way; all after it do too if `is_sticky`.
   0: none. Returns what there was since the last call. */
struct recorder_count recorder_fail(long n, int error, int is_sticky);

/* The n-th allocation of memory from now on returns NULL, and all after it. 0: none. Returns how many there
   were since the last call. */
long recorder_fail_allocation(long n);

#endif
