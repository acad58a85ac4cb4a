use crate::term::term;

term! {
    /// What ended a run.
    EndCause("end of a run") {
        /// The command ended, well or badly.
        Itself = "itself",
        /// Its time was up.
        Timeout = "timeout",
        /// It used more memory than it may.
        Memory = "memory",
        /// It had more processes than it may, and nothing of the kernel's could hold it back.
        Processes = "processes",
        /// It used more processor time than it may.
        CpuTime = "cpu_time",
        /// The launching program ended it, or was told to.
        Stopped = "stopped",
        /// Not everything that it did could be told, and that was required.
        Unobserved = "unobserved",
        /// The host replaced something that was hidden from it, or that it might only read.
        Uncovered = "uncovered",
    }
}

term! {
    /// A limit of a run, by name.
    RunLimit("limit") {
        /// Memory of all processes together.
        Memory = "memory",
        /// Processes at a time.
        Processes = "processes",
        /// Share of processor time.
        Cpu = "cpu",
        /// Processor time in all.
        CpuTime = "cpu_time",
        /// Time.
        Timeout = "timeout",
        /// Bytes of output.
        Output = "output",
    }
}
