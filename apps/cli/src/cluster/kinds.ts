// SPDX-License-Identifier: Apache-2.0
/**
 * Our kinds, and the one way in which data of unknown shape become one of them: the kind's schema has nothing to say.
 * Usage: `if (fits(object, "SriovNetwork")) object.spec.resourceName`.
 */
import {
  apiVersion,
  schemas,
  type BridgeNetwork,
  type OVSNetwork,
  type SriovIBNetwork,
  type SriovNetwork,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { validateSchema } from "../crd/validate-schema.ts";
import { isJsonObject, textAt } from "../json.ts";

export interface Kinds {
  readonly SriovNetworkNodePolicy: SriovNetworkNodePolicy;
  readonly SriovNetworkNodeState: SriovNetworkNodeState;
  readonly SriovNetworkPoolConfig: SriovNetworkPoolConfig;
  readonly SriovOperatorConfig: SriovOperatorConfig;
  readonly SriovNetwork: SriovNetwork;
  readonly SriovIBNetwork: SriovIBNetwork;
  readonly OVSNetwork: OVSNetwork;
  readonly BridgeNetwork: BridgeNetwork;
}

export type Kind = keyof Kinds;

/** Whether `kind` of `version` is one of ours. */
export function isOurs(kind: string, version: string): boolean {
  return version === apiVersion && Object.hasOwn(schemas, kind);
}

/** Whether the object has the shape of the kind. Rules and defaults play no role. */
export function fits<K extends Kind>(object: unknown, kind: K): object is Kinds[K] {
  const schema = schemas[kind];
  return (
    schema !== undefined &&
    isJsonObject(object) &&
    object["kind"] === kind &&
    textAt(object["metadata"], "name") !== undefined &&
    validateSchema(object, schema, { path: "" }).length === 0
  );
}
