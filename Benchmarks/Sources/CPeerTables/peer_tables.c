#include "peer_tables.h"

#include <lmdb.h>
#include <stdio.h>
#include <string.h>

const peer_engine *peer_named(const char *name)
{
    if (strcmp(name, "quire-c") == 0) return &peer_quire_c;
    if (strcmp(name, "lmdb-c") == 0) return &peer_lmdb_c;
    if (strcmp(name, "sqlite-norm") == 0) return &peer_sqlite_norm;
    if (strcmp(name, "sqlite-blob") == 0) return &peer_sqlite_blob;
    if (strcmp(name, "sqlite-article") == 0) return &peer_sqlite_article;
    if (strcmp(name, "rocksdb") == 0) return &peer_rocksdb;
    return NULL;
}

const char *peer_lmdb_version(void)
{
    static char text[32];
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    snprintf(text, sizeof text, "LMDB %d.%d.%d", major, minor, patch);
    return text;
}
