//! Which file an open handle is of, whatever path led to it.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle,
};

use super::check;

/// Its volume, and its number there.
pub(crate) fn file_identity(file: &File) -> io::Result<[u64; 2]> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure is valid for the call to write.
    check(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut found) })?;
    let number = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    Ok([found.dwVolumeSerialNumber.into(), number])
}
