// SPDX-License-Identifier: Apache-2.0
/**
 * followVerbosity tells the verbosity of the operator config for which the daemon is deployed: the SriovOperatorConfig or, without
 * one, the AfxdpOperatorConfig.
 * Usage: `followVerbosity({ sriov: desired.configs, afxdp: afxdp.configs }, onVerbosity);`
 */
import { operatorConfigName } from "@switchyard/api";
import type { Cache } from "@switchyard/kube";

/** What is cached of an operator config. */
export interface ConfigVerbosity {
  /** spec.logLevel; undefined if it is not set. */
  readonly verbosity: number | undefined;
}

type Configs = Pick<Cache<ConfigVerbosity>, "get" | "subscribe">;

/** Calls `onVerbosity` with each change of one of the objects; with undefined if it does not set a verbosity. */
export function followVerbosity(
  { sriov, afxdp }: { readonly sriov: Configs; readonly afxdp: Configs },
  onVerbosity: (verbosity: number | undefined) => void,
): void {
  const tell = (): void => {
    onVerbosity((sriov.get(operatorConfigName) ?? afxdp.get(operatorConfigName))?.verbosity);
  };
  for (const configs of [sriov, afxdp]) configs.subscribe(tell);
}
