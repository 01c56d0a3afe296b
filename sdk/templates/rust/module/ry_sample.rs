//! A module in Rust with one route, which responds with the module's settings after a timer.
#[macro_use]
mod ry_sys;
use ry_sys::*;
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr::{null, null_mut};

struct Sample {
    host: *const ry_host,
    core: &'static ry_core_v1,
    http: &'static ry_http_v1,
    settings: String, // JSON, defaults filled in
}
/// A request that waits for its response.
struct Pending {
    sample: *const Sample,
    request: *mut ry_request,
}

/// Called once, on the request's executor.
extern "C" fn timer_expired(ctx: *mut c_void, st: ry_status, _: *const ry_error_view) {
    guard(|| {
        let p = unsafe { Box::from_raw(ctx as *mut Pending) };
        let s = unsafe { &*p.sample };
        let header = ry_header { name: ry_str::of("Content-Type"), value: ry_str::of("application/json") };
        let body = if st == RY_OK { ry_str::of(&s.settings) } else { ry_str::NONE };
        (s.http.respond)(p.request, if st == RY_OK { 200 } else { 503 }, &header, 1, body)
    });
}

extern "C" fn greet(ctx: *mut c_void, view: *const ry_request_view, request: *mut ry_request) -> ry_status {
    guard(|| {
        let s = unsafe { &*(ctx as *const Sample) };
        let p = Box::into_raw(Box::new(Pending { sample: s, request })) as *mut c_void;
        let done = ry_done { call: timer_expired, ctx: p };
        let st = (s.core.sleep_ms)(s.host, unsafe { (*view).exec }, 1, done, null_mut());
        if st != RY_OK {
            drop(unsafe { Box::from_raw(p as *mut Pending) });
        }
        st
    })
}

/// Registers the route. No I/O and no threads here.
extern "C" fn create(
    host: *const ry_host,
    get: ry_get_interface_fn,
    registrar: *mut ry_registrar,
    config_json: ry_str,
    out: *mut *mut c_void,
    err: *mut ry_errbuf,
) -> ry_status {
    guard(|| {
        let core = get(host, ry_str::of("ry.core/1"), size_of::<ry_core_v1>() as u32) as *const ry_core_v1;
        let http = get(host, ry_str::of("ry.http/1"), size_of::<ry_http_v1>() as u32) as *const ry_http_v1;
        let reg = get(host, ry_str::of("ry.registrar/1"), size_of::<ry_registrar_v1>() as u32);
        let reg = reg as *const ry_registrar_v1;
        if core.is_null() || http.is_null() || reg.is_null() {
            say(err, "the host lacks a required interface");
            return RY_UNAVAILABLE;
        }
        let settings = unsafe { config_json.to_text() };
        let sample = Sample { host, core: unsafe { &*core }, http: unsafe { &*http }, settings };
        let s = Box::into_raw(Box::new(sample));
        let route = ry_route {
            struct_size: size_of::<ry_route>() as u32,
            flags: RY_ROUTE_PUBLIC,
            method: ry_str::of("GET"),
            pattern: ry_str::of("/ry_sample/{name}"),
            handle: greet,
            ctx: s as *mut c_void,
            max_body: 0,
            timeout_ms: 0,
            openapi_json: ry_str::NONE,
        };
        let st = unsafe { ((*reg).route)(registrar, &route) };
        if st != RY_OK {
            drop(unsafe { Box::from_raw(s) });
            return st;
        }
        unsafe { *out = s as *mut c_void };
        RY_OK
    })
}
extern "C" fn start(_: *mut c_void, _: *mut ry_errbuf) -> ry_status {
    RY_OK
}
extern "C" fn stop(_: *mut c_void, _deadline_unix_us: i64, done: ry_done) {
    (done.call)(done.ctx, RY_OK, null());
}
extern "C" fn destroy(this: *mut c_void) {
    guard(|| {
        drop(unsafe { Box::from_raw(this as *mut Sample) });
        RY_OK
    });
}
extern "C" fn health(_: *mut c_void, _: *mut ry_errbuf) -> ry_status {
    RY_OK
}

const SCHEMA: &str = "{\"type\":\"object\",\"properties\":{\"greeting\":{\"type\":\"string\",\
    \"default\":\"Hello\",\"description\":\"Shown in every response\"}}}";
const FACTS: &str = "{\"name\":\"ry_sample\",\"version\":\"0.1.0\",\"abi_major\":1,\"abi_minor\":0,\
    \"min_host_minor\":0,\"flags\":0,\"needs\":[{\"id\":\"ry.core/1\",\"optional\":false},\
    {\"id\":\"ry.http/1\",\"optional\":false}],\"provides\":[]}";
ry_module_section!(FACTS);

static NEEDS: [ry_need; 2] = [need("ry.core/1"), need("ry.http/1")];
static MODULE: ry_module_v1 = ry_module_v1 {
    magic: RY_ABI_MAGIC,
    struct_size: size_of::<ry_module_v1>() as u32,
    abi_major: RY_ABI_MAJOR,
    abi_minor: RY_ABI_MINOR,
    min_host_minor: 0,
    flags: 0,
    name: ry_str::of("ry_sample"),
    version: ry_str::of("0.1.0"),
    config_schema_json: ry_str::of(SCHEMA),
    needs: NEEDS.as_ptr(),
    n_needs: NEEDS.len(),
    need_stride: size_of::<ry_need>(),
    provides: null(),
    n_provides: 0,
    create,
    start,
    stop,
    destroy,
    health,
};

#[no_mangle]
pub extern "C" fn ry_module_entry() -> *const ry_module_v1 {
    // With older compilers the linker may drop a static that is referenced only by #[used].
    unsafe { std::ptr::read_volatile(RY_FACTS.as_ptr()) };
    &MODULE
}
