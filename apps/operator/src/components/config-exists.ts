// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the SriovOperatorConfig that a cache shows is still there. What is made for one that is gone is deleted by the
 * garbage collector at once, and would be made again until the cache hears of it.
 * Usage: `if (!(await configExists(transport, config, signal))) return;`
 */
import { sriovOperatorConfigs, type SriovOperatorConfig } from "@switchyard/api";
import { isKubeError, isKubeObject, objectPath, type Transport } from "@switchyard/kube";

/** Asks the API server. Rejects with KubeError where it does not answer. */
export async function configExists(
  transport: Transport,
  { metadata }: SriovOperatorConfig,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const found = await transport.request({ method: "GET", path: objectPath(sriovOperatorConfigs, metadata), signal });
    return isKubeObject(found) && found.metadata.uid === metadata.uid && found.metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isKubeError(error, "NotFound")) return false;
    throw error;
  }
}

/** The same for callers that ask for each of a thousand nodes: an answer is used for a second. */
export function createConfigExistsCheck(
  transport: Transport,
  nowMs: () => number,
): (config: SriovOperatorConfig, signal: AbortSignal) => Promise<boolean> {
  let last = { uid: "", isThere: false, untilMs: 0 };
  return async (config, signal) => {
    const { uid = "" } = config.metadata;
    if (last.uid !== uid || nowMs() >= last.untilMs) {
      last = { uid, isThere: await configExists(transport, config, signal), untilMs: nowMs() + rememberedMs };
    }
    return last.isThere;
  };
}

const rememberedMs = 1_000;
