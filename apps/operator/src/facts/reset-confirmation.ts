// SPDX-License-Identifier: Apache-2.0
/**
 * The annotation with which a person confirms on the configuration that nodes without policies are reset (mass-loss.ts): what caches of
 * configurations keep of it, and which changes of a configuration are about it.
 * Usage: `project: (config) => ({ ...config, metadata: { ...keep(config), ...keepConfirmation(config.metadata) } })`.
 */
import { annotations, operatorConfigName, type ObjectMeta } from "@switchyard/api";
import type { Cache, CacheChange } from "@switchyard/kube";

/** A SriovOperatorConfig or AfxdpOperatorConfig. */
interface Config {
  readonly metadata: ObjectMeta;
}

/** Returns the metadata that a cache keeps; empty if the reset is not confirmed. */
export function keepConfirmation({ annotations: noted }: ObjectMeta): Pick<ObjectMeta, "annotations"> {
  const value = noted?.[annotations.resetConfirmed];
  return value === undefined ? {} : { annotations: { [annotations.resetConfirmed]: value } };
}

/** Returns the time up to which resets are confirmed, as the person wrote it. */
export function readConfirmation(configs: Pick<Cache<Config>, "get">): string | undefined {
  return confirmationOf(configs.get(operatorConfigName));
}

/** Reports whether the confirmation is new or another one. */
export function changesConfirmation({ before, after }: CacheChange<Config>): boolean {
  const value = confirmationOf(after);
  return value !== undefined && value !== confirmationOf(before);
}

function confirmationOf(config: Config | undefined): string | undefined {
  return config?.metadata.annotations?.[annotations.resetConfirmed];
}
