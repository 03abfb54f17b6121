//! The sections of the header, in the order in which a newcomer needs them.

/// A part of the header.
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// What holds for all of its functions; may be empty.
    pub intro: &'static str,
    /// Its functions without `trunkline_`, in order; `*` stands for any characters at an end.
    pub functions: &'static [&'static str],
}

/// Each function belongs to the first section that names it.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "The forms that do not wait",
        intro: "Each function that blocks has two other forms, with the same inputs and the same errors. \
                Both return at once.\n\n\
                `_start` calls `done` once the operation ended, on a thread of the library. `destroy` is \
                called exactly once, also when the start fails.\n\n\
                `_enqueue` puts an item into `queue`, which carries `tag`.\n\n\
                `out_op` may be NULL. It is where the number goes that `trunkline_op_cancel` takes.",
        functions: &["op_cancel", "*_start", "*_enqueue"],
    },
    Section {
        title: "Pools",
        intro: "",
        functions: &[
            "pool_new",
            "pool_new_with_handlers",
            "pool_close",
            "pool_free",
            "pool_status",
            "pool_status_with",
            "pool_metrics",
            "pool_explain",
            "pool_set_roots",
            "pool_set_gates",
            "pool_restart",
            "pool_drain_all",
        ],
    },
    Section {
        title: "Servers, by hand and from settings files",
        intro: "",
        functions: &[
            "pool_reconcile",
            "pool_add_server",
            "pool_remove_server",
            "detect",
            "pool_load",
            "pool_set_source",
            "pool_switch_source",
            "pool_reload",
            "pool_settled",
        ],
    },
    Section {
        title: "Trust, approvals and sign-ins",
        intro: "",
        functions: &[
            "pool_set_trusted",
            "pool_approvals",
            "pool_approve",
            "pool_reject",
            "pool_forget",
            "pool_accept_tool",
            "pool_sign_in",
            "pool_finish_sign_in",
            "pool_sign_out",
        ],
    },
    Section {
        title: "Sessions",
        intro: "",
        functions: &[
            "session_open",
            "session_open_with_handlers",
            "session_ready",
            "session_started",
            "session_tools",
            "session_tools_for",
            "session_call_tool",
            "session_request",
            "session_prompts",
            "session_resources",
            "session_resource_templates",
            "session_listed",
            "session_refresh",
            "session_introduction",
            "session_configure",
            "session_disable",
            "session_enable",
            "session_explain",
            "session_close",
        ],
    },
    Section {
        title: "Leases",
        intro: "",
        functions: &[
            "session_acquire",
            "pool_acquire",
            "lease_call_tool",
            "lease_request",
            "lease_*",
        ],
    },
    Section {
        title: "Queues",
        intro: "",
        functions: &[
            "queue_new",
            "queue_fd",
            "queue_wait",
            "queue_drain",
            "item_clear",
            "queue_close",
            "queue_free",
        ],
    },
    Section {
        title: "Events",
        intro: "",
        functions: &["pool_subscribe*", "session_subscribe*", "subscription_close"],
    },
    Section {
        title: "What servers ask of the host, and servers of the host's own",
        intro: "",
        functions: &["request_*", "session_provide", "host_*"],
    },
    Section {
        title: "Texts and errors",
        intro: "",
        functions: &["buf_*", "error_*", "status_name"],
    },
    Section {
        title: "The library itself",
        intro: "",
        functions: &["version", "abi_version", "features", "logs_*"],
    },
];

/// Functions whose status a host may leave alone: they end something, or answer somebody who may
/// be gone.
pub const MAY_BE_IGNORED: &[&str] = &[
    "pool_close",
    "session_close",
    "lease_release",
    "subscription_close",
    "queue_close",
    "op_cancel",
    "request_answer",
    "request_refuse",
    "host_send",
    "host_close",
];
