/*
 * Records what this process writes to one file, in order, and makes calls fail. Linked into a program,
 * its functions stand before those of libc for every library of the process, LMDB among them. Linux only.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdint.h>

/* What a record of the log is about. After it come `size` bytes. Written in the machine's own byte order. */
struct recorder_entry {
    /* 'W' bytes written at `offset`, 'S' synced, 'T' cut to `offset` bytes, 'L' got its name,
       'A' the program acknowledged `offset`. */
    uint8_t kind;
    /* Written through a descriptor that syncs each write. */
    uint8_t is_synced;
    uint16_t unused;
    uint32_t size;
    uint64_t offset;
};

/* From now on, everything done to files whose path has `name` in it, but not "-lock" or "-gate", goes to `log`. */
void recorder_start(const char *name, int log);

void recorder_acknowledge(uint64_t number);

/* The n-th write or sync of such a file from now on, 1 is the next, fails with this error; all after it do
   too if `is_sticky`. 0: none. Returns how many there were since the last call. */
long recorder_fail(long n, int error, int is_sticky);

#endif
