// SPDX-License-Identifier: Apache-2.0
/**
 * The CustomResourceDefinition of a kind (apiextensions.k8s.io/v1), and its YAML.
 */
import type { CustomResource, StructuralSchema } from "@switchyard/api";
import { stringify } from "yaml";

/** The CRD as an object. One version, served and stored; status is a subresource. */
export function toCrd(resource: CustomResource, schema: StructuralSchema): object {
  const { group, version, kind, plural, namespaced, columns } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      scope: namespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns.map(({ name, type, jsonPath, ...rest }) => ({
            name,
            type,
            jsonPath,
            ...("wide" in rest && { priority: 1 }),
          })),
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

/** YAML as Kubernetes reads it: by version 1.1, in which on, off, yes and no unquoted are booleans. */
export function toYaml(object: object): string {
  return stringify(object, { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false });
}
