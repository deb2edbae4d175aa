// SPDX-License-Identifier: Apache-2.0
/**
 * toCrd returns the CustomResourceDefinition of a kind (apiextensions.k8s.io/v1), and toYaml formats it.
 */
import { annotations, type CustomResource, type StructuralSchema } from "@switchyard/api";
import { stringify } from "yaml";

/**
 * Returns the CRD. It has one version, which is served and stored, the subresource status, and an annotation with the
 * version of the product, by which `operator crds apply` recognises newer CRDs.
 */
export function toCrd(resource: CustomResource, schema: StructuralSchema, productVersion: string): object {
  const { group, version, kind, plural, namespaced, columns } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, annotations: { [annotations.crdsVersion]: productVersion } },
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
          schema: { openAPIV3Schema: withLimits(schema, resource.maxStatusTextBytes) },
        },
      ],
    },
  };
}

/** Returns the schema in which all texts of the status have a maxLength, if the kind has a limit. Shorter limits stay. */
function withLimits(schema: StructuralSchema, maxLength: number | undefined): StructuralSchema {
  const { status, ...others } = schema.properties ?? {};
  if (maxLength === undefined || status === undefined) return schema;
  return { ...schema, properties: { ...others, status: limited(status, maxLength) } };
}

function limited(schema: StructuralSchema, maxLength: number): StructuralSchema {
  const { properties, items, additionalProperties } = schema;
  const isText = schema.type === "string" && schema.enum === undefined && schema.maxLength === undefined;
  return {
    ...schema,
    ...(isText && { maxLength }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, limited(one, maxLength)])),
    }),
    ...(items !== undefined && { items: limited(items, maxLength) }),
    ...(typeof additionalProperties === "object" && {
      additionalProperties: limited(additionalProperties, maxLength),
    }),
  };
}

/** Formats YAML 1.1, which Kubernetes reads: it quotes on, off, yes and no, which are booleans otherwise. */
export function toYaml(object: object): string {
  return stringify(object, { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false });
}
