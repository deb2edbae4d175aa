// SPDX-License-Identifier: Apache-2.0
/** Manifest is a Kubernetes object as the operator applies it, without the fields that the API server adds. */
import type { OwnerReference } from "@switchyard/api";

/** An object of any kind. The kinds in kube-objects.ts extend it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
}

/** Metadata of an object. */
export interface ManifestMetadata {
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}
