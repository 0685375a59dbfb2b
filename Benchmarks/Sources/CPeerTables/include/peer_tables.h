#ifndef QUIRE_BENCH_PEER_TABLES_H
#define QUIRE_BENCH_PEER_TABLES_H
#include "peer.h"

// The engine with this name, NULL if there is none.
const peer_engine *peer_named(const char *name);

// The version of liblmdb in use, such as "LMDB 0.9.24".
const char *peer_lmdb_version(void);
#endif
