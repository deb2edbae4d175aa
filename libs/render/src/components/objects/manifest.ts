// SPDX-License-Identifier: Apache-2.0
/** Objects of Kubernetes as they are written: all that we want of them, and nothing that the server adds. */
import type { OwnerReference } from "@switchyard/api";

/** Any of them. Kinds with fields of their own extend it in kube-objects.ts. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
}

export interface ManifestMetadata {
  readonly name: string;
  /** Absent for kinds that have none. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}
