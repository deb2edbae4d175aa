// SPDX-License-Identifier: Apache-2.0
/** Kubernetes objects as a bundle reads and writes them. The chart's own tests check their fields. */

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
}

export interface DeploymentSpec {
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly serviceAccountName: string;
      readonly containers: readonly Container[];
      readonly initContainers?: readonly Container[];
    };
  };
}

export interface CustomResourceDefinition extends Manifest {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: { readonly description?: string } };
    }[];
  };
}

/** Returns all images that the Deployment runs, and those that its variables *_IMAGE name, by the name of their user. */
export function imagesOf({ template: { spec } }: DeploymentSpec): ReadonlyMap<string, string> {
  const images = new Map<string, string>();
  for (const { name, image, env = [] } of [...(spec.initContainers ?? []), ...spec.containers]) {
    images.set(name, image);
    for (const { name: variable, value = "" } of env) {
      if (variable.endsWith("_IMAGE") && value !== "") {
        images.set(variable.slice(0, -"_IMAGE".length).toLowerCase().replaceAll("_", "-"), value);
      }
    }
  }
  return images;
}
