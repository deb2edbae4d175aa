// SPDX-License-Identifier: Apache-2.0
/**
 * Which of SriovOperatorConfig.spec.configDaemonEnvVars the config daemon gets. Its container may do everything on a
 * node, and some variables make a process run other code (NODE_OPTIONS, LD_PRELOAD, PATH) or obey another API server
 * (KUBECONFIG), so only names that are known to be harmless pass.
 * Usage: `judgeDaemonVariable("LD_PRELOAD", "/tmp/x.so")` is `{ use: "refused", message: "…" }`.
 */

export type DaemonVariableVerdict =
  | { readonly use: "passed" }
  /** Accepted for the sake of stored objects, and not passed. */
  | { readonly use: "ignored"; readonly message: string }
  | { readonly use: "refused"; readonly message: string };

/** What the daemon and the libraries in its process read by name. */
const passed: readonly string[] = [
  "LOG_LEVEL",
  "MAX_PFS",
  "METRICS_ADDRESS",
  "USE_EXTERNAL_DRAINER",
  "UV_THREADPOOL_SIZE",
  "TZ",
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/** What upstream's daemon reads: its own variables, and those of Go and its Kubernetes client. */
const upstreams = /^(?:DEV_MODE|CLUSTER_TYPE|DEST_DIR|GO(?:DEBUG|GC|MAXPROCS|MEMLIMIT|TRACEBACK)|KUBE_FEATURE_\w+)$/;

/** Much longer than any useful value. 256 such variables are still far below the size of an object. */
const longestValue = 1_024;

export function judgeDaemonVariable(name: string, value: string): DaemonVariableVerdict {
  if (upstreams.test(name)) return { use: "ignored", message: "has no effect: only upstream's daemon reads it" };
  if (!passed.includes(name)) {
    return { use: "refused", message: `must not be set for a privileged container; allowed are ${passed.join(", ")}` };
  }
  if (value.length > longestValue) {
    return { use: "refused", message: `must be at most ${longestValue} characters long, and has ${value.length}` };
  }
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) {
    return { use: "refused", message: "must not contain control characters, such as line breaks" };
  }
  return { use: "passed" };
}
