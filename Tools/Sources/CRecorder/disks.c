#define _GNU_SOURCE
#include "disks.h"

#include <errno.h>

#ifdef __linux__

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

int disk_keep_mounts_private(void)
{
    if (unshare(CLONE_NEWNS) != 0) return errno;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? 0 : errno;
}

int disk_mount_memory(const char *folder, int size)
{
    char options[32];
    snprintf(options, sizeof options, "size=%dk", size);
    return mount("tmpfs", folder, "tmpfs", 0, options) == 0 ? 0 : errno;
}

/* EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are the same call; 2 is "do not write the journal first". */
int disk_cut_power(const char *folder)
{
    int file = open(folder, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    uint32_t without_journal = 2;
    int status = ioctl(file, _IOR('X', 125, uint32_t), &without_journal) == 0 ? 0 : errno;
    close(file);
    return status;
}

#else

int disk_keep_mounts_private(void) { return ENOSYS; }
int disk_mount_memory(const char *folder, int size) { (void)folder; (void)size; return ENOSYS; }
int disk_cut_power(const char *folder) { (void)folder; return ENOSYS; }

#endif
