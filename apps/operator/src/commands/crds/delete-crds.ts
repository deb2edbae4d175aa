// SPDX-License-Identifier: Apache-2.0
/**
 * deleteCrds deletes Switchyard's CustomResourceDefinitions with all objects of their kinds, and waits until they are gone. The CRD
 * of NetworkAttachmentDefinitions belongs to Multus and stays. VFs and other settings of nodes stay, too.
 */
import { customResourceDefinitions as type } from "@switchyard/api";
import { isKubeError, isRecord, objectPath } from "@switchyard/kube";
import { readObject, type CommandDeps } from "../command.ts";
import type { ShippedCrd } from "./read-crds.ts";

const pollMs = 500;

/** Rejects with CommandError TIMED_OUT, which names a CRD that is left and what keeps it, or with KubeError. */
export async function deleteCrds(deps: CommandDeps, crds: readonly ShippedCrd[]): Promise<void> {
  const names = crds.filter(({ isOwn }) => isOwn).map(({ crd }) => crd.metadata.name);
  for (const name of names) {
    deps.print(`${name}: ${(await requestDeletion(deps, name)) ? "deleting" : "does not exist"}`);
  }
  for (const name of names) {
    for (;;) {
      const left = await readObject(deps, type, { name });
      if (left === undefined) break;
      await deps.limit.pause(pollMs, `${name} still exists: ${reasonOf(left)}`);
    }
  }
  deps.print(`${names.length} CustomResourceDefinitions and their objects are gone`);
}

/** Resolves with whether the CRD existed. */
function requestDeletion({ transport, limit }: CommandDeps, name: string): Promise<boolean> {
  return limit.retry(async (signal) => {
    try {
      await transport.request({ method: "DELETE", path: objectPath(type, { name }), signal });
      return true;
    } catch (error) {
      if (isKubeError(error, "NotFound")) return false;
      throw error;
    }
  });
}

/** The API server says in a condition what it waits for, such as finalizers of objects. */
function reasonOf(crd: unknown): string {
  const status = isRecord(crd) && isRecord(crd["status"]) ? crd["status"] : {};
  const conditions: readonly unknown[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const terminating = conditions.filter(isRecord).find((condition) => condition["type"] === "Terminating");
  const message = terminating?.["message"];
  return typeof message === "string" ? message : "the API server deletes its objects";
}
