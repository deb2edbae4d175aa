// SPDX-License-Identifier: Apache-2.0
/**
 * checkDaemonVariable decides which of SriovOperatorConfig.spec.configDaemonEnvVars the config daemon gets. The
 * daemon's container is privileged, and some variables make a process run other code (NODE_OPTIONS, LD_PRELOAD, PATH)
 * or use another API server (KUBECONFIG). So only names on an allowlist are passed on.
 * Usage: `checkDaemonVariable("LD_PRELOAD", "/tmp/x.so")` is `{ use: "refused", message: "…" }`.
 */

/** How a variable is treated. `message` completes a sentence that starts with the field's path. */
export type DaemonVariableUse =
  | { readonly use: "passed" }
  /** Accepted, because stored objects may have it, but not passed on. */
  | { readonly use: "ignored"; readonly message: string }
  | { readonly use: "refused"; readonly message: string };

/** Variables that the daemon and the libraries in its process read. */
const passed: readonly string[] = [
  "CONNECTIVITY_TIMEOUT",
  "LOG_LEVEL",
  "MAX_PFS",
  "METRICS_ADDRESS",
  "STATE_DIRECTORY",
  "USE_EXTERNAL_DRAINER",
  "UV_THREADPOOL_SIZE",
  "TZ",
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/** Variables that upstream's daemon reads: its own and those of Go and its Kubernetes client. */
const upstreams = /^(?:DEV_MODE|CLUSTER_TYPE|DEST_DIR|GO(?:DEBUG|GC|MAXPROCS|MEMLIMIT|TRACEBACK)|KUBE_FEATURE_\w+)$/;

/** Much longer than any useful value, and small enough that 256 variables fit into an object. */
const maxValueLength = 1_024;

/** What STATE_DIRECTORY can be: no part of it leads out of the host's root directory, and it is not a directory of the root itself. */
export const stateDirectory = {
  expected: 'an absolute path with at least two parts, such as "/var/lib/sriov-operator"',
  isValid: (path: string): boolean => /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,}$/.test(path),
};

/** What CONNECTIVITY_TIMEOUT can be. */
export const connectivityTimeoutText = {
  expected: "a duration from 5s to 10m, or 0",
  isValid(text: string): boolean {
    const [whole, minutes = "0", seconds = "0"] = /^(?=\d)(?:(\d{1,3})m)?(?:(\d{1,4})s)?$/.exec(text) ?? [];
    const total = Number(minutes) * 60 + Number(seconds);
    return text === "0" || (whole !== undefined && total >= 5 && total <= 600);
  },
};

/** Decides how the variable is treated. */
export function checkDaemonVariable(name: string, value: string): DaemonVariableUse {
  if (upstreams.test(name)) return { use: "ignored", message: "has no effect: only upstream's daemon reads it" };
  if (!passed.includes(name)) {
    const message = `must not be set, because the daemon's container is privileged; allowed are ${passed.join(", ")}`;
    return { use: "refused", message };
  }
  if (value.length > maxValueLength) {
    return { use: "refused", message: `must have at most ${maxValueLength} characters, but has ${value.length}` };
  }
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) {
    return { use: "refused", message: "must not contain control characters, such as line breaks" };
  }
  if (name === "STATE_DIRECTORY" && !stateDirectory.isValid(value)) {
    return { use: "refused", message: `must be ${stateDirectory.expected}` };
  }
  if (name === "CONNECTIVITY_TIMEOUT" && !connectivityTimeoutText.isValid(value)) {
    return { use: "refused", message: `must be ${connectivityTimeoutText.expected}` };
  }
  return { use: "passed" };
}
