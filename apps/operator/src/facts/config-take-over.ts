// SPDX-License-Identifier: Apache-2.0
/**
 * Until this operator has reported on the SriovOperatorConfig, its condition Ready can be that of upstream's operator, for the same
 * generation. Then the operator is not ready, so that `helm upgrade --wait` does not end, and a wait for the condition that
 * follows does not succeed on the word of the operator before.
 */
import { operatorConfigName, upstreamManager, type SriovOperatorConfig } from "@switchyard/api";
import { isRecord, type Cache, type KubeObject } from "@switchyard/kube";

/** A SriovOperatorConfig as cached. */
export interface CachedOperatorConfig extends SriovOperatorConfig {
  /** Whether upstream's operator wrote its condition Ready. */
  readonly isReportedByUpstream?: boolean;
}

/**
 * Reports whether the message of the condition Ready is upstream's. Of a condition that this operator has applied since, upstream
 * can still own the fields with equal values, such as the type and the status.
 */
export function isReportedByUpstream({ metadata: { managedFields = [] } }: Pick<KubeObject, "metadata">): boolean {
  const path = ["f:status", "f:conditions", 'k:{"type":"Ready"}'];
  return managedFields.some(({ manager, fieldsV1 }) => {
    const condition = path.reduce<unknown>((tree, name) => (isRecord(tree) ? tree[name] : undefined), fieldsV1);
    return manager === upstreamManager && isRecord(condition) && Object.hasOwn(condition, "f:message");
  });
}

/**
 * Returns a function with a sentence while the condition is upstream's. It ends for good with the first report of this operator:
 * an old process of upstream's that still runs must not make it unready again.
 */
export function watchTakeOver(configs: Pick<Cache<CachedOperatorConfig>, "get">): () => readonly string[] {
  let isReported = false;
  return () => {
    const config = configs.get(operatorConfigName);
    if (isReported || config === undefined || config.metadata.deletionTimestamp !== undefined) return [];
    isReported = config.isReportedByUpstream !== true;
    return isReported
      ? []
      : [`SriovOperatorConfig ${operatorConfigName} still has the conditions of upstream's operator`];
  };
}
