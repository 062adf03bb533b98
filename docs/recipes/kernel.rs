// A kernel in Rust: two passes in f64, for f32 rows under PyTorch's convention. The structs are those of
// kernels/include/layernorm.h and layernorm_plugin.h.
//     rustc --crate-type=cdylib -O -o kernel.so docs/recipes/kernel.rs
//     ./lnbench run --plugin ./kernel.so --kernels rust_two_pass
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::slice::from_raw_parts;

#[repr(C)]
pub struct Convention {
    operation: c_uint, eps_place: c_uint, eps: f64,
    ddof: c_int, affine: c_uint, // LayerNorm's
    weight: c_uint, cast: c_int, root: c_int, sum: c_uint, // RMSNorm's
}

#[repr(C)]
pub struct Problem {
    rows: usize, hidden: usize, x_stride: usize, y_stride: usize, residual_stride: usize, sum_stride: usize,
    storage: c_uint, param: c_uint, convention: Convention, accuracy: c_uint,
}

#[repr(C)]
pub struct Tensors {
    x: *const f32, residual: *const f32, gamma: *const f32, beta: *const f32,
    y: *mut f32, sum: *mut f32, mean: *mut f64, rstd: *mut f64,
}

type Text = *const c_char;

#[repr(C)]
pub struct Kernel {
    operation: c_uint, name: Text, statistics: Text, apply: Text, schedule: Text, isa: Text,
    storage: c_uint, param: c_uint, accumulator: c_uint, unroll: c_uint, traits: c_uint,
    supports: unsafe extern "C" fn(*const Problem) -> Text,
    prepare: *const c_void, release: *const c_void,
    run: unsafe extern "C" fn(*const Problem, *const Tensors), bound: *const c_void,
    role: Text, probable_bound: *const c_void,
}

#[repr(C)]
pub struct PluginTable {
    abi_version: u32, struct_size: usize, kernel_size: usize, name: Text, count: usize, kernels: *const Kernel,
    set_threads: *const c_void, version: Text,
}
unsafe impl Sync for Kernel {}
unsafe impl Sync for PluginTable {}

unsafe extern "C" fn run(problem: *const Problem, tensors: *const Tensors) {
    let (p, t) = (&*problem, &*tensors);
    let stride = |given| if given == 0 { p.hidden } else { given };
    let (gamma, beta) = (from_raw_parts(t.gamma, p.hidden), from_raw_parts(t.beta, p.hidden));
    for row in 0..p.rows {
        let x = t.x.add(row * stride(p.x_stride)); // y may be x: no slice of it
        let n = p.hidden as f64;
        let mean = (0..p.hidden).map(|i| *x.add(i) as f64).sum::<f64>() / n;
        let var = (0..p.hidden).map(|i| (*x.add(i) as f64 - mean).powi(2)).sum::<f64>() / n;
        let rstd = 1.0 / (var + p.convention.eps).sqrt();
        for i in 0..p.hidden {
            let v = (*x.add(i) as f64 - mean) * rstd;
            *t.y.add(row * stride(p.y_stride) + i) = (v * gamma[i] as f64 + beta[i] as f64) as f32;
        }
        if !t.mean.is_null() { *t.mean.add(row) = mean; }
        if !t.rstd.is_null() { *t.rstd.add(row) = rstd; }
    }
}

unsafe extern "C" fn supports(problem: *const Problem) -> Text {
    let c = &(*problem).convention;
    let torch = c.ddof == 0 && c.eps_place == 1 && c.affine == 3;
    if torch { std::ptr::null() } else { b"only PyTorch's convention\0".as_ptr() as Text }
}

const EMPTY: Text = b"\0".as_ptr() as Text;
static KERNELS: [Kernel; 1] = [Kernel {
    operation: 0, name: b"rust_two_pass\0".as_ptr() as Text,
    statistics: EMPTY, apply: EMPTY, schedule: EMPTY, isa: b"scalar\0".as_ptr() as Text,
    storage: 0, param: 0, accumulator: 1, unroll: 1, traits: 1 << 7, supports,
    prepare: std::ptr::null(), release: std::ptr::null(), run, bound: std::ptr::null(),
    role: EMPTY, probable_bound: std::ptr::null(),
}];
static TABLE: PluginTable = PluginTable {
    abi_version: 3, struct_size: size_of::<PluginTable>(), kernel_size: size_of::<Kernel>(),
    name: b"rust\0".as_ptr() as Text, count: 1, kernels: KERNELS.as_ptr(),
    set_threads: std::ptr::null(), version: EMPTY,
};

#[no_mangle]
pub extern "C" fn ln_plugin() -> *const PluginTable {
    &TABLE
}
