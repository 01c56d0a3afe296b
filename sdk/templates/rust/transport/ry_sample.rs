//! mcp.transport/1 over Unix sockets, in Rust. A configuration is {"url": "unix:///run/mcp/tools.sock"};
//! the operator's setting `directory` defines which sockets are allowed.
#[macro_use]
mod ry_sys;
mod session;
mod text;
use ry_sys::*;
use session::{Host, Session};
use std::ffi::c_void;
use std::mem::size_of;
use std::path::Path;
use std::ptr::null;
use std::sync::Arc;

struct Driver {
    host: Arc<Host>,
    directory: String,
    local: bool,
}

impl Driver {
    /// Returns the socket's path, or the reason for which it is refused.
    fn allowed_socket(&self, t: &ry_mcp_target) -> Result<String, (ry_status, String)> {
        let config = unsafe { t.config_json.to_text() };
        let url = text::member(&config, "url").unwrap_or_default();
        let path = match url.strip_prefix("unix://") {
            Some(path) if path.starts_with('/') => String::from(path),
            _ => {
                let message = "The configuration requires \"url\" in the form unix:///path/of/a/socket";
                return Err((RY_INVALID_ARGUMENT, message.into()));
            }
        };
        let in_directory = !self.directory.is_empty() && Path::new(&path).parent() == Some(Path::new(&self.directory)) && !path.ends_with("/..");
        if in_directory || t.flags & RY_MCP_OPERATOR != 0 || (self.directory.is_empty() && self.local) {
            return Ok(path);
        }
        Err((RY_PERMISSION_DENIED, "The socket is not in the directory of allowed sockets".into()))
    }
}

fn driver<'a>(this: *mut c_void) -> &'a Driver {
    unsafe { &*(this as *const Driver) }
}
/// The opener's handle owns one reference to the session; close_session releases it.
fn session_ref(session: *mut c_void) -> Arc<Session> {
    unsafe {
        Arc::increment_strong_count(session as *const Session);
        Arc::from_raw(session as *const Session)
    }
}

extern "C" fn check(this: *mut c_void, target: *const ry_mcp_target, err: *mut ry_errbuf) -> ry_status {
    guard(|| match driver(this).allowed_socket(unsafe { &*target }) {
        Ok(_) => RY_OK,
        Err((st, message)) => {
            say(err, &message);
            st
        }
    })
}
extern "C" fn open_session(
    this: *mut c_void,
    target: *const ry_mcp_target,
    exec: *mut ry_exec,
    sink: *const ry_mcp_sink,
    ctx: *mut c_void,
    out: *mut *mut c_void,
    err: *mut ry_errbuf,
) -> ry_status {
    guard(|| {
        let (d, target) = (driver(this), unsafe { &*target });
        let opened = d.allowed_socket(target).and_then(|path| {
            Session::open(&d.host, &path, target, exec, unsafe { &*sink }, ctx).map_err(|message| (RY_UNAVAILABLE, message))
        });
        match opened {
            Ok(session) => {
                unsafe { *out = Arc::into_raw(session) as *mut c_void };
                RY_OK
            }
            Err((st, message)) => {
                say(err, &message);
                st
            }
        }
    })
}
extern "C" fn send(_: *mut c_void, session: *mut c_void, message: *const ry_mcp_message) -> ry_status {
    guard(|| unsafe { session_ref(session).send((*message).token, (*message).json.bytes()) })
}
extern "C" fn finish(_: *mut c_void, session: *mut c_void, token: u64, _reason: i32) {
    guard(|| {
        session_ref(session).finish(token);
        RY_OK
    });
}
extern "C" fn resume(_: *mut c_void, session: *mut c_void) {
    guard(|| {
        session_ref(session).resume();
        RY_OK
    });
}
extern "C" fn close_session(_: *mut c_void, session: *mut c_void) {
    guard(|| {
        unsafe { Arc::from_raw(session as *const Session) }.close();
        RY_OK
    });
}
extern "C" fn resolve(_: *mut c_void, _: *const ry_mcp_target, _: *mut ry_exec, _: ry_mcp_resolved_fn, _: *mut c_void) -> ry_status {
    RY_UNIMPLEMENTED
}
extern "C" fn authorize(
    _: *mut c_void,
    _: *const ry_mcp_target,
    _: *const ry_mcp_refusal,
    _: *mut ry_exec,
    _: ry_mcp_resolved_fn,
    _: *mut c_void,
) -> ry_status {
    RY_UNIMPLEMENTED
}
static TRANSPORT: ry_mcp_transport_v1 = ry_mcp_transport_v1 {
    struct_size: size_of::<ry_mcp_transport_v1>() as u32,
    capabilities: RY_MCP_MODERN,
    check,
    open: open_session,
    send,
    finish,
    resume,
    close: close_session,
    resolve,
    authorize,
};

// ---- the module ----

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
        let reg = get(host, ry_str::of("ry.registrar/1"), size_of::<ry_registrar_v1>() as u32);
        let reg = reg as *const ry_registrar_v1;
        if core.is_null() || reg.is_null() {
            say(err, "the host lacks a required interface");
            return RY_UNAVAILABLE;
        }
        let core = unsafe { &*core };
        let settings = unsafe { config_json.to_text() };
        let d = Box::into_raw(Box::new(Driver {
            host: Arc::new(Host::new(host, core)),
            directory: text::member(&settings, "directory").unwrap_or_default(),
            local: unsafe { (core.info)(host, ry_str::of("deployment.mode")).bytes() } == b"local",
        }));
        let table = &TRANSPORT as *const ry_mcp_transport_v1 as *const c_void;
        let st = unsafe { ((*reg).contribute)(registrar, ry_str::of("mcp.transport/1"), ry_str::of("ry_sample"), table, d as *mut c_void) };
        if st != RY_OK {
            drop(unsafe { Box::from_raw(d) });
            return st;
        }
        unsafe { *out = d as *mut c_void };
        RY_OK
    })
}
extern "C" fn start(_: *mut c_void, _: *mut ry_errbuf) -> ry_status {
    RY_OK
}
extern "C" fn stop(this: *mut c_void, _deadline_unix_us: i64, done: ry_done) {
    guard(|| {
        driver(this).host.join();
        RY_OK
    });
    (done.call)(done.ctx, RY_OK, null());
}
extern "C" fn destroy(this: *mut c_void) {
    guard(|| {
        drop(unsafe { Box::from_raw(this as *mut Driver) });
        RY_OK
    });
}
extern "C" fn health(_: *mut c_void, _: *mut ry_errbuf) -> ry_status {
    RY_OK
}

const SCHEMA: &str = "{\"type\":\"object\",\"properties\":{\"directory\":{\"type\":\"string\",\"default\":\"\",\
    \"description\":\"Directory of the sockets that configurations may use. Empty: any socket in \
    deployment.mode local, none otherwise\"}}}";
const FACTS: &str = "{\"name\":\"ry_sample\",\"version\":\"0.1.0\",\"abi_major\":1,\"abi_minor\":0,\
    \"min_host_minor\":0,\"flags\":0,\"needs\":[{\"id\":\"ry.core/1\",\"optional\":false},\
    {\"id\":\"mcp.transport/1\",\"optional\":false}],\"provides\":[]}";
ry_module_section!(FACTS);

static NEEDS: [ry_need; 2] = [need("ry.core/1"), need("mcp.transport/1")];
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
