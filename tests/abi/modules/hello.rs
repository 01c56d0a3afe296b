//! A module in plain Rust, without a crate: a route that responds after a timer. The structs mirror
//! ry/abi.h, ry/if/core.h, ry/if/http.h and ry/if/registrar.h as far as they are used here.
use std::ffi::c_void;
use std::mem::size_of;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;

type Status = i32;
const OK: Status = 0;
const INTERNAL: Status = 13;
const UNAVAILABLE: Status = 14;

#[repr(C)]
#[derive(Clone, Copy)]
struct Str {
    ptr: *const u8,
    len: usize,
}
const fn text(s: &'static str) -> Str {
    Str { ptr: s.as_ptr(), len: s.len() }
}
const NONE: Str = Str { ptr: null(), len: 0 };

#[repr(C)]
struct ErrBuf {
    ptr: *mut u8,
    cap: usize,
    len: usize,
}
type DoneFn = extern "C" fn(*mut c_void, Status, *const c_void);
#[repr(C)]
#[derive(Clone, Copy)]
struct Done {
    call: DoneFn,
    ctx: *mut c_void,
}
#[repr(C)]
struct Header {
    name: Str,
    value: Str,
}
#[repr(C)]
struct Need {
    struct_size: u32,
    optional: u32,
    id: Str,
    min_size: u32,
    reserved0: u32,
}
type GetInterface = extern "C" fn(*const c_void, Str, u32) -> *const c_void;

#[repr(C)]
struct Module {
    magic: u32,
    struct_size: u32,
    abi_major: u32,
    abi_minor: u32,
    min_host_minor: u32,
    flags: u32,
    name: Str,
    version: Str,
    config_schema_json: Str,
    needs: *const Need,
    n_needs: usize,
    need_stride: usize,
    provides: *const Str,
    n_provides: usize,
    create: extern "C" fn(*const c_void, GetInterface, *mut c_void, Str, *mut *mut c_void, *mut ErrBuf) -> Status,
    start: extern "C" fn(*mut c_void, *mut ErrBuf) -> Status,
    stop: extern "C" fn(*mut c_void, i64, Done),
    destroy: extern "C" fn(*mut c_void),
    health: extern "C" fn(*mut c_void, *mut ErrBuf) -> Status,
}
unsafe impl Sync for Module {}

// Slots that are not called here are declared as plain addresses.
#[repr(C)]
struct Core {
    struct_size: u32,
    reserved0: u32,
    log_to_exec_post: [*const c_void; 8],
    sleep_ms: extern "C" fn(*const c_void, *mut c_void, u64, Done, *mut u64) -> Status,
}
#[repr(C)]
struct Http {
    struct_size: u32,
    reserved0: u32,
    respond: extern "C" fn(*mut c_void, u32, *const Header, usize, Str) -> Status,
}
type Handler = extern "C" fn(*mut c_void, *const RequestView, *mut c_void) -> Status;
#[repr(C)]
struct Route {
    struct_size: u32,
    flags: u32,
    method: Str,
    pattern: Str,
    handle: Handler,
    ctx: *mut c_void,
    max_body: u64,
    timeout_ms: u64,
    openapi_json: Str,
}
#[repr(C)]
struct Registrar {
    struct_size: u32,
    reserved0: u32,
    route: extern "C" fn(*mut c_void, *const Route) -> Status,
}
#[repr(C)]
struct RequestView {
    struct_size: u32,
    n_headers: u32,
    method: Str,
    path: Str,
    query: Str,
    route: Str,
    headers: *const Header,
    params: *const Header,
    n_params: usize,
    body: Str,
    principal: *const c_void,
    request_id: Str,
    remote_address: Str,
    traceparent: Str,
    received_unix_us: i64,
    deadline_unix_us: i64,
    exec: *mut c_void,
}

struct Hello {
    host: *const c_void,
    core: &'static Core,
    http: &'static Http,
}
struct Waiting {
    hello: *const Hello,
    request: *mut c_void,
}

/// The exception firewall: a panic must not leave a callback.
fn guard(f: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(INTERNAL)
}

extern "C" fn after(ctx: *mut c_void, st: Status, _err: *const c_void) {
    guard(|| {
        let w = unsafe { Box::from_raw(ctx as *mut Waiting) };
        let body = String::from("{\"lang\":\"rust\"}");
        let head = Header { name: text("Content-Type"), value: text("application/json") };
        let status = if st == OK { 200 } else { 503 };
        let bytes = Str { ptr: body.as_ptr(), len: body.len() };
        (unsafe { &*w.hello }.http.respond)(w.request, status, &head, 1, bytes)
    });
}

extern "C" fn handle(ctx: *mut c_void, view: *const RequestView, request: *mut c_void) -> Status {
    guard(|| {
        let hello = ctx as *const Hello;
        let h = unsafe { &*hello };
        let w = Box::into_raw(Box::new(Waiting { hello, request })) as *mut c_void;
        let done = Done { call: after, ctx: w };
        let st = (h.core.sleep_ms)(h.host, unsafe { (*view).exec }, 5, done, std::ptr::null_mut());
        if st != OK {
            drop(unsafe { Box::from_raw(w as *mut Waiting) });
        }
        st
    })
}

extern "C" fn create(
    host: *const c_void,
    get: GetInterface,
    registrar: *mut c_void,
    _config: Str,
    out: *mut *mut c_void,
    err: *mut ErrBuf,
) -> Status {
    guard(|| {
        let core = get(host, text("ry.core/1"), size_of::<Core>() as u32) as *const Core;
        let http = get(host, text("ry.http/1"), size_of::<Http>() as u32) as *const Http;
        let reg = get(host, text("ry.registrar/1"), size_of::<Registrar>() as u32) as *const Registrar;
        if core.is_null() || http.is_null() || reg.is_null() {
            let message = b"the host lacks an interface";
            unsafe {
                let n = message.len().min((*err).cap);
                std::ptr::copy_nonoverlapping(message.as_ptr(), (*err).ptr, n);
                (*err).len = n;
            }
            return UNAVAILABLE;
        }
        let hello = Box::into_raw(Box::new(unsafe { Hello { host, core: &*core, http: &*http } }));
        let route = Route {
            struct_size: size_of::<Route>() as u32,
            flags: 1,
            method: text("GET"),
            pattern: text("/abi/rust"),
            handle,
            ctx: hello as *mut c_void,
            max_body: 0,
            timeout_ms: 0,
            openapi_json: NONE,
        };
        let st = (unsafe { &*reg }.route)(registrar, &route);
        if st != OK {
            drop(unsafe { Box::from_raw(hello) });
            return st;
        }
        unsafe { *out = hello as *mut c_void };
        OK
    })
}
extern "C" fn start(_: *mut c_void, _: *mut ErrBuf) -> Status {
    OK
}
extern "C" fn stop(_: *mut c_void, _: i64, done: Done) {
    (done.call)(done.ctx, OK, null());
}
extern "C" fn destroy(this: *mut c_void) {
    guard(|| {
        drop(unsafe { Box::from_raw(this as *mut Hello) });
        OK
    });
}
extern "C" fn health(_: *mut c_void, _: *mut ErrBuf) -> Status {
    OK
}

const MANIFEST: &str = "{\"name\":\"abi_rust\",\"version\":\"1.0.0\",\"abi_major\":1,\"abi_minor\":0,\
    \"min_host_minor\":0,\"flags\":0,\"needs\":[{\"id\":\"ry.http/1\",\"optional\":false}],\
    \"provides\":[]}";
const fn bytes<const N: usize>(s: &str) -> [u8; N] {
    let mut out = [0u8; N];
    let mut i = 0;
    while i < N {
        out[i] = s.as_bytes()[i];
        i += 1;
    }
    out
}
#[used]
#[link_section = ".ry.module"]
static SECTION: [u8; MANIFEST.len()] = bytes(MANIFEST);

static NEED: Need = Need {
    struct_size: size_of::<Need>() as u32,
    optional: 0,
    id: text("ry.http/1"),
    min_size: 0,
    reserved0: 0,
};
unsafe impl Sync for Need {}
static MODULE: Module = Module {
    magic: 0x31595259,
    struct_size: size_of::<Module>() as u32,
    abi_major: 1,
    abi_minor: 0,
    min_host_minor: 0,
    flags: 0,
    name: text("abi_rust"),
    version: text("1.0.0"),
    config_schema_json: NONE,
    needs: &NEED,
    n_needs: 1,
    need_stride: size_of::<Need>(),
    provides: null(),
    n_provides: 0,
    create,
    start,
    stop,
    destroy,
    health,
};

#[no_mangle]
extern "C" fn ry_module_entry() -> *const Module {
    // With older compilers the linker may drop a static that is referenced only by #[used].
    unsafe { core::ptr::read_volatile(SECTION.as_ptr()) };
    &MODULE
}
