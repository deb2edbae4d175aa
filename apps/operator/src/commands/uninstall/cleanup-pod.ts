// SPDX-License-Identifier: Apache-2.0
/**
 * cleanupPod renders the pod that runs `config-daemon cleanup` on one node, and readCleanup reads how far it is.
 *
 * A pod that fails has the last lines of its log in its status (terminationMessagePolicy), up to 2,048 bytes. Therefore reading
 * them needs no right to read logs, and works when the node does not answer.
 */
import { labels } from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import { createHash } from "node:crypto";

export interface CleanupPodOptions {
  readonly namespace: string;
  /** Image of the config daemon. */
  readonly image: string;
  readonly imagePullSecrets: readonly string[];
  /** Leaves VFs, MTUs and drivers as they are. */
  readonly keepsVfs: boolean;
  /** Time after which the kubelet ends a pod that still runs. */
  readonly limitSeconds: number;
}

/** How far a cleanup is. `why` of a pod that waits is "" if there is nothing to say. */
export type Cleanup =
  | { readonly state: "waiting" | "running"; readonly why: string }
  | { readonly state: "succeeded" }
  | { readonly state: "failed"; readonly why: string; readonly log: readonly string[] };

const container = "cleanup";
const maxLogLines = 20;

/** The pod needs no scheduler and no token, tolerates all taints, and is bound to the node. */
export function cleanupPod(node: string, options: CleanupPodOptions) {
  const { namespace, image, imagePullSecrets, keepsVfs, limitSeconds } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: podName(node), namespace, labels: { [labels.cleanup]: "host" } },
    spec: {
      nodeName: node,
      hostNetwork: true,
      restartPolicy: "Never",
      priorityClassName: "system-node-critical",
      automountServiceAccountToken: false,
      tolerations: [{ operator: "Exists" }],
      activeDeadlineSeconds: limitSeconds,
      terminationGracePeriodSeconds: 60,
      ...(imagePullSecrets.length > 0 && { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
      containers: [
        {
          name: container,
          image,
          args: ["cleanup", ...(keepsVfs ? ["--keep-vfs"] : [])],
          securityContext: { privileged: true },
          terminationMessagePolicy: "FallbackToLogsOnError",
          volumeMounts: [{ name: "host", mountPath: "/host" }],
        },
      ],
      volumes: [{ name: "host", hostPath: { path: "/" } }],
    },
  };
}

/** A name of at most 253 characters, as names of pods and nodes have. */
export function podName(node: string): string {
  const name = `switchyard-cleanup-${node}`;
  if (name.length <= 253) return name;
  const hash = createHash("sha256").update(node).digest("hex").slice(0, 16);
  return `${name.slice(0, 230).replace(/[.-]+$/, "")}-${hash}`;
}

/** Reads the status of a pod. */
export function readCleanup(pod: KubeObject): Cleanup {
  const status = "status" in pod && isRecord(pod.status) ? pod.status : {};
  const list: readonly unknown[] = Array.isArray(status["containerStatuses"]) ? status["containerStatuses"] : [];
  const found = list.filter(isRecord).find(({ name }) => name === container)?.["state"];
  const { waiting, terminated } = isRecord(found) ? found : {};
  switch (status["phase"]) {
    case "Succeeded":
      return { state: "succeeded" };
    case "Failed": {
      const ended = isRecord(terminated) ? terminated : {};
      const code = typeof ended["exitCode"] === "number" ? `exit code ${ended["exitCode"]}` : "it did not run";
      const why = reasonOf(status);
      return { state: "failed", why: why === "" ? code : `${code}, ${why}`, log: lastLines(ended["message"]) };
    }
    case "Running":
      return { state: "running", why: "" };
    default:
      return { state: "waiting", why: isRecord(waiting) ? reasonOf(waiting) : reasonOf(status) };
  }
}

/** "ImagePullBackOff: Back-off pulling image …", on one line; "" without a reason. */
function reasonOf({ reason, message }: Readonly<Record<string, unknown>>): string {
  const parts = [reason, message].filter((part) => typeof part === "string" && part !== "");
  return printable(parts.join(": ")).replaceAll("\n", " ");
}

function lastLines(message: unknown): readonly string[] {
  if (typeof message !== "string") return [];
  const lines = printable(message).split("\n");
  return lines.filter((line) => line.trim() !== "").slice(-maxLogLines);
}

/** Without control characters, which could change what a terminal shows. */
function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, "").slice(0, 4096);
}
