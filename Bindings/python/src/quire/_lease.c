/*
 * Bodies as memoryviews over the map, without copying and without dangling pointers.
 *
 * A Lease stands for one open snapshot and owns it (`owner`: releasing it ends the snapshot). Lease.view()
 * makes a read-only memoryview whose exporter, a Body, is known to the lease. Python cannot take back a
 * slice, an array or a buffer that somebody made from a memoryview, but the exporter hears when the last
 * of them is gone. So the invariant is: THE OWNER LIVES WHILE ANY BUFFER OF THE LEASE IS EXPORTED.
 *
 * Lease.revoke() releases every memoryview that view() returned (their users get ValueError), refuses new
 * ones, and returns how many bodies are still exported by other means; the owner goes with the last one.
 *
 * All of it runs under the GIL.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct Body Body;

typedef struct {
    PyObject_HEAD
    PyObject *owner;
    Py_ssize_t exports;
    int is_revoked;
    Body *first;
} Lease;

struct Body {
    PyObject_HEAD
    Lease *lease;
    void *data;
    Py_ssize_t size;
    PyObject *view; /* a weak reference to what view() returned */
    Body *previous, *next;
};

static PyTypeObject *body_type;

/* ---- Body ------------------------------------------------------------------------------------------ */

static int body_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    Body *body = (Body *)self;
    if (body->lease->is_revoked) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "the snapshot of this body has ended");
        return -1;
    }
    if (PyBuffer_FillInfo(view, self, body->data, body->size, 1, flags) < 0) return -1;
    body->lease->exports++;
    return 0;
}

static void body_releasebuffer(PyObject *self, Py_buffer *view)
{
    Lease *lease = ((Body *)self)->lease;
    (void)view;
    if (--lease->exports == 0 && lease->is_revoked) {
        PyObject *owner = lease->owner;
        lease->owner = NULL;
        Py_XDECREF(owner);
    }
}

static void body_dealloc(PyObject *self)
{
    Body *body = (Body *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    if (body->previous) body->previous->next = body->next;
    else body->lease->first = body->next;
    if (body->next) body->next->previous = body->previous;
    Py_XDECREF(body->view);
    Py_DECREF((PyObject *)body->lease);
    release(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot body_slots[] = {
    {Py_bf_getbuffer, (void *)body_getbuffer},
    {Py_bf_releasebuffer, (void *)body_releasebuffer},
    {Py_tp_dealloc, (void *)body_dealloc},
    {0, NULL},
};

static PyType_Spec body_spec = {
    .name = "quire._lease.Body",
    .basicsize = sizeof(Body),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = body_slots,
};

/* ---- Lease ----------------------------------------------------------------------------------------- */

static PyObject *lease_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *owner;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O:Lease", &owner)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Lease *lease = (Lease *)allocate(type, 0);
    if (!lease) return NULL;
    Py_INCREF(owner);
    lease->owner = owner;
    return (PyObject *)lease;
}

/* Bodies hold their lease, so none is left. */
static void lease_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    Py_XDECREF(((Lease *)self)->owner);
    release(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *lease_view(PyObject *self, PyObject *arguments)
{
    Lease *lease = (Lease *)self;
    PyObject *address;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "On:view", &address, &size)) return NULL;
    void *data = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    if (lease->is_revoked) {
        PyErr_SetString(PyExc_ValueError, "the snapshot has ended");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(body_type, Py_tp_alloc);
    Body *body = (Body *)allocate(body_type, 0);
    if (!body) return NULL;
    Py_INCREF(self);
    body->lease = lease;
    body->data = data ? data : (void *)"";
    body->size = data ? size : 0;
    body->next = lease->first;
    if (body->next) body->next->previous = body;
    lease->first = body;

    PyObject *view = PyMemoryView_FromObject((PyObject *)body);
    if (view) {
        body->view = PyWeakref_NewRef(view, NULL);
        if (!body->view) Py_CLEAR(view);
    }
    Py_DECREF((PyObject *)body);
    return view;
}

/* The memoryviews that still live; releasing one changes the list of bodies, so they are gathered first. */
static PyObject *living_views(Lease *lease)
{
    PyObject *views = PyList_New(0);
    for (Body *body = lease->first; views && body; body = body->next) {
        PyObject *view = body->view ? PyWeakref_GetObject(body->view) : NULL;
        if (view && view != Py_None && PyList_Append(views, view) < 0) Py_CLEAR(views);
    }
    return views;
}

static PyObject *lease_revoke(PyObject *self, PyObject *unused)
{
    Lease *lease = (Lease *)self;
    (void)unused;
    PyObject *views = living_views(lease);
    if (!views) return NULL;
    lease->is_revoked = 1;
    for (Py_ssize_t i = 0; i < PyList_Size(views); i++) {
        PyObject *done = PyObject_CallMethod(PyList_GetItem(views, i), "release", NULL);
        if (!done) PyErr_Clear(); /* BufferError: something reads it right now, or holds it; counted below */
        Py_XDECREF(done);
    }
    Py_DECREF(views);
    return PyLong_FromSsize_t(lease->exports);
}

static PyObject *lease_exports(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(((Lease *)self)->exports);
}

static PyMethodDef lease_methods[] = {
    {"view", lease_view, METH_VARARGS, "A read-only memoryview of (address, size)."},
    {"revoke", lease_revoke, METH_NOARGS, "Releases all views; returns how many bodies are still exported."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef lease_members[] = {
    {"exports", lease_exports, NULL, "How many bodies are exported.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot lease_slots[] = {
    {Py_tp_new, (void *)lease_new},
    {Py_tp_dealloc, (void *)lease_dealloc},
    {Py_tp_methods, lease_methods},
    {Py_tp_getset, lease_members},
    {0, NULL},
};

static PyType_Spec lease_spec = {
    .name = "quire._lease.Lease",
    .basicsize = sizeof(Lease),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = lease_slots,
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_lease", .m_size = -1};

PyMODINIT_FUNC PyInit__lease(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    body_type = (PyTypeObject *)PyType_FromSpec(&body_spec);
    PyObject *lease_type = PyType_FromSpec(&lease_spec);
    if (!body_type || !lease_type || PyModule_AddObjectRef(module, "Lease", lease_type) < 0) {
        Py_XDECREF((PyObject *)body_type);
        Py_XDECREF(lease_type);
        Py_DECREF(module);
        return NULL;
    }
    Py_DECREF(lease_type);
    return module;
}
