// SPDX-License-Identifier: Apache-2.0
/**
 * readReadiness reads whether a node exists and can run a pod now.
 * Usage: `if ((await readReadiness(deps, "worker-1")).state === "gone") return;`
 */
import { nodes } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { readObject, type CommandDeps } from "../command-deps.ts";

export type Readiness = { readonly state: "ready" | "gone" } | { readonly state: "not ready"; readonly why: string };

/** Rejects with KubeError, or with CommandError TIMED_OUT. */
export async function readReadiness(deps: Pick<CommandDeps, "transport" | "limit">, name: string): Promise<Readiness> {
  const node = await readObject(deps, nodes, { name });
  if (node === undefined) return { state: "gone" };
  const status = "status" in node && isRecord(node.status) ? node.status : {};
  const conditions: readonly unknown[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const ready = conditions.filter(isRecord).find(({ type }) => type === "Ready");
  if (ready?.["status"] === "True") return { state: "ready" };
  const reason = ready?.["reason"];
  return { state: "not ready", why: typeof reason === "string" ? reason : "it has not reported" };
}
