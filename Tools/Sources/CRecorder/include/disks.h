/*
 * Disks that can be filled and pulled out, for the calls that Swift does not import. Each returns 0 or an
 * error number; ENOSYS where the system has no such thing. Linux only.
 */
#ifndef DISKS_H
#define DISKS_H

/* From now on, mounts of this process are private to it and its children, and end with them. */
int disk_keep_mounts_private(void);

/* Mounts an empty file system in memory, of this many KiB. */
int disk_mount_memory(const char *folder, int size);

/* Stops the file system that is mounted there, as if its power were cut: what was not synced is lost. */
int disk_cut_power(const char *folder);

#endif
