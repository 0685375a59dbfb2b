/* The system's libarchive, and nothing else. */
#include <archive.h>
#include <archive_entry.h>
