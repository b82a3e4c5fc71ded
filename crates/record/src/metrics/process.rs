//! What the kernel says about this process.

use std::fs;

/// Linux counts processor time for user space in hundredths of a second on every architecture.
const TICKS_PER_SECOND: u64 = 100;

/// Numbers from `/proc/self`; one that cannot be read is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Process {
    /// Resident memory in bytes.
    pub(crate) memory: Option<u64>,
    /// Processor time in nanoseconds.
    pub(crate) cpu: Option<u64>,
    pub(crate) open_fds: Option<u64>,
    pub(crate) max_fds: Option<u64>,
}

impl Process {
    pub(crate) fn read() -> Self {
        let file = |name| fs::read_to_string(name).unwrap_or_default();
        Self {
            memory: resident(&file("/proc/self/status")),
            cpu: cpu(&file("/proc/self/stat")),
            open_fds: open_fds(),
            max_fds: max_fds(&file("/proc/self/limits")),
        }
    }
}

/// `status` gives kibibytes, where `statm` gives pages of a size that depends on the machine.
fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The name of the process stands in parentheses and may hold anything, so fields count from the last one.
fn cpu(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    user.checked_add(system)?
        .checked_mul(1_000_000_000 / TICKS_PER_SECOND)
}

/// The listing itself is one of the descriptors it lists.
fn open_fds() -> Option<u64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    u64::try_from(count.saturating_sub(1)).ok()
}

fn max_fds(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_files_are_understood() {
        assert_eq!(
            resident("Name:\tx\nVmRSS:\t   12345 kB\n"),
            Some(12_641_280)
        );
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 150 50 0 0 20 0 1 0";
        assert_eq!(cpu(stat), Some(2_000_000_000));
        let limits = "Max open files            1024                 1048576              files\n";
        assert_eq!(max_fds(limits), Some(1024));
        assert_eq!(resident(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory_and_descriptors() {
        let process = Process::read();

        assert!(process.memory > Some(100_000));
        assert!(process.open_fds > Some(0));
        assert!(process.cpu.is_some() && process.max_fds.is_some());
    }
}
