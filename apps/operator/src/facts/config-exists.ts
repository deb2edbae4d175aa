// SPDX-License-Identifier: Apache-2.0
/**
 * configExists reports whether the API server still has the SriovOperatorConfig, or AfxdpOperatorConfig, that the cache shows. The garbage
 * collector would delete objects of a deleted one at once, and they would be created again until the cache shows the
 * deletion.
 */
import {
  sriovOperatorConfigs,
  type ObjectMeta,
  type OwnerReference,
  type ResourceType,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { apiVersionOf, isKubeError, isKubeObject, objectPath, type Transport } from "@switchyard/kube";

/** Returns false if the object is gone, is being deleted, or has another uid. Rejects with KubeError. */
export async function configExists(
  transport: Transport,
  { metadata }: Config,
  signal: AbortSignal,
  type: ResourceType = sriovOperatorConfigs,
): Promise<boolean> {
  try {
    const found = await transport.request({ method: "GET", path: objectPath(type, metadata), signal });
    return isKubeObject(found) && found.metadata.uid === metadata.uid && found.metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isKubeError(error, "NotFound")) return false;
    throw error;
  }
}

/** Returns a function like configExists for callers that ask for each node: it reuses a result for a second. `nowMs` is monotonic. */
export function createConfigExistsCheck(
  transport: Transport,
  nowMs: () => number,
  type: ResourceType = sriovOperatorConfigs,
): (config: Config, signal: AbortSignal) => Promise<boolean> {
  let last = { uid: "", isThere: false, untilMs: 0 };
  return async (config, signal) => {
    const { uid = "" } = config.metadata;
    if (last.uid !== uid || nowMs() >= last.untilMs) {
      last = { uid, isThere: await configExists(transport, config, signal, type), untilMs: nowMs() + rememberedMs };
    }
    return last.isThere;
  };
}

const rememberedMs = 1_000;

interface Config {
  readonly metadata: ObjectMeta;
}

/**
 * configOwner returns the owner reference with which an object is deleted together with the SriovOperatorConfig, or with the
 * AfxdpOperatorConfig, also while no operator runs. Only objects in the namespace of the config can have it.
 */
export function configOwner(
  { metadata }: Pick<SriovOperatorConfig, "metadata">,
  type: ResourceType = sriovOperatorConfigs,
): OwnerReference {
  const { name, uid = "" } = metadata;
  const { kind } = type;
  return {
    apiVersion: apiVersionOf(type),
    kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
