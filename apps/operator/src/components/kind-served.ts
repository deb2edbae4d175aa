// SPDX-License-Identifier: Apache-2.0
/**
 * isKindServed asks the discovery of the API server whether it serves a kind, before something is removed because the kind is
 * missing.
 * Usage: `if (await isKindServed(transport, sriovOperatorConfigs, signal)) return;`
 */
import { isKubeError, isRecord, type ResourceType, type Transport } from "@switchyard/kube";

/** Returns false only if discovery lacks the group, the version or the kind. Rejects with KubeError. */
export async function isKindServed(
  transport: Pick<Transport, "request">,
  { group, version, plural }: ResourceType,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const found = await transport.request({ method: "GET", path: `/apis/${group}/${version}`, signal });
    const resources: unknown = isRecord(found) ? found["resources"] : undefined;
    if (!Array.isArray(resources)) return true; // unknown
    return resources.some((it: unknown) => isRecord(it) && it["name"] === plural);
  } catch (error) {
    if (isKubeError(error, "NotFound")) return false;
    throw error;
  }
}
