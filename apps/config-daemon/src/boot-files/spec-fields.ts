// SPDX-License-Identifier: Apache-2.0
/**
 * Converts the spec of a NodeState to the field names of the Go operator's systemd mode, which are in lower case, and back
 * (sriov-operator.md F.7). Nothing about the input is assumed: a field that does not exist is dropped, and an entry with a
 * value of another type is left out with a sentence that says so.
 */
import type {
  Bridges,
  InterfaceSpec,
  LinuxBridge,
  LinuxBridgeConfig,
  LinuxUplink,
  OvsBridge,
  OvsBridgeConfig,
  OvsInterfaceConfig,
  OvsUplink,
  SriovNetworkNodeStateSpec,
  SystemSettings,
  VfGroup,
} from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { isTexts } from "../files/json-file.ts";

export interface ReadSpec {
  readonly spec: SriovNetworkNodeStateSpec;
  readonly problems: readonly string[];
}

/** The type of a field: a scalar, a map with keys of users, a list of texts, an object, or a list of objects. */
type Shape = "text" | "number" | "flag" | "map" | "texts" | ObjectShape | readonly [ObjectShape];
interface ObjectShape {
  readonly [field: string]: Shape;
}

/** Every field of a type has a shape, so a new field cannot be forgotten. Fields of the status are omitted. */
type ShapeOf<Type> = { readonly [Field in keyof Required<Type>]: Shape };

const vfGroup = {
  resourceName: "text",
  deviceType: "text",
  vfRange: "text",
  policyName: "text",
  mtu: "number",
  isRdma: "flag",
  vdpaType: "text",
  needVhostNet: "flag",
  excludeTopology: "flag",
  reservedFor: "text",
} as const satisfies ShapeOf<VfGroup>;

const pf = {
  pciAddress: "text",
  numVfs: "number",
  mtu: "number",
  name: "text",
  linkType: "text",
  eSwitchMode: "text",
  externallyManaged: "flag",
  cardMode: "text",
  vfGroups: [vfGroup],
} as const satisfies ShapeOf<InterfaceSpec>;

const ovsConfig = {
  datapathType: "text",
  externalIDs: "map",
  otherConfig: "map",
  failMode: "text",
} as const satisfies ShapeOf<OvsBridgeConfig>;

const ovsInterface = {
  type: "text",
  options: "map",
  externalIDs: "map",
  otherConfig: "map",
  mtuRequest: "number",
} as const satisfies ShapeOf<OvsInterfaceConfig>;

const ovsUplink = { pciAddress: "text", name: "text", interface: ovsInterface } as const satisfies ShapeOf<
  Omit<OvsUplink, "error">
>;
const ovs = {
  name: "text",
  bridge: ovsConfig,
  uplinks: [ovsUplink],
  disconnectedNetworks: "texts",
} as const satisfies ShapeOf<Omit<OvsBridge, "stalePorts">>;
const linuxConfig = { vlanFiltering: "flag", vlanProtocol: "text" } as const satisfies ShapeOf<LinuxBridgeConfig>;
const linuxUplink = { pciAddress: "text", name: "text", uplink: "map" } as const satisfies ShapeOf<LinuxUplink>;
const linux = {
  name: "text",
  bridge: linuxConfig,
  uplinks: [linuxUplink],
  disconnectedNetworks: "texts",
} as const satisfies ShapeOf<Omit<LinuxBridge, "linkAdminState">>;
const bridges = { ovs: [ovs], linux: [linux] } as const satisfies ShapeOf<Bridges>;
const system = { rdmaMode: "text", openVSwitchDisabled: "flag" } as const satisfies ShapeOf<SystemSettings>;
const specShape = {
  interfaces: [pf],
  allocation: "text",
  unselected: "texts",
  bridges,
  system,
} as const satisfies ShapeOf<SriovNetworkNodeStateSpec>;

/** Returns the spec with all field names in lower case. Keys that users choose stay as they are. */
export function toUpstreamFields(spec: SriovNetworkNodeStateSpec): unknown {
  return lowered(spec, specShape);
}

/** Reads field names in lower case, as in the API, or in any other case. */
export function fromUpstreamFields(value: unknown): ReadSpec {
  const problems: string[] = [];
  const spec = readObject(value ?? {}, specShape, "spec", problems) ?? {};
  return { spec, problems };
}

function lowered(value: unknown, shape: Shape): unknown {
  if (Array.isArray(value)) {
    const [entry] = isListShape(shape) ? shape : [];
    return entry === undefined ? value : value.map((each: unknown) => lowered(each, entry));
  }
  if (typeof shape === "string" || isListShape(shape) || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([field, inner]) => {
      const inside = shape[field];
      return inside === undefined || inner === undefined ? [] : [[field.toLowerCase(), lowered(inner, inside)]];
    }),
  );
}

/** Returns undefined, with a problem, if the value or a field in it has another type. */
function readObject(value: unknown, shape: ObjectShape, path: string, problems: string[]): object | undefined {
  if (!isRecord(value)) {
    problems.push(`${path} is not a mapping`);
    return undefined;
  }
  const names = new Map(Object.keys(shape).map((field) => [field.toLowerCase(), field]));
  const fields: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const field = names.get(key.toLowerCase());
    const inside = field === undefined ? undefined : shape[field];
    if (field === undefined || inside === undefined || inner === null) continue;
    const read = readField(inner, inside, `${path}.${field}`, problems);
    if (read !== undefined) fields.push([field, read]);
    else if (typeof inside === "string") return undefined; // the object is not what it was meant to be
  }
  return Object.fromEntries(fields);
}

function readField(value: unknown, shape: Shape, path: string, problems: string[]): unknown {
  if (typeof shape === "string") {
    if (matches(value, shape)) return value;
    problems.push(`${path} is not ${expected[shape]}`);
    return undefined;
  }
  if (!isListShape(shape)) return readObject(value, shape, path, problems);
  if (!Array.isArray(value)) {
    problems.push(`${path} is not a list`);
    return undefined;
  }
  return value.flatMap((entry, index) => {
    const read = readObject(entry, shape[0], `${path}[${index}]`, problems);
    return read === undefined ? [] : [read];
  });
}

const expected = {
  text: "a text",
  number: "a whole number",
  flag: "true or false",
  map: "a map of texts",
  texts: "a list of texts",
} as const;

function matches(value: unknown, shape: keyof typeof expected): boolean {
  switch (shape) {
    case "text":
      return typeof value === "string";
    case "number":
      return Number.isSafeInteger(value);
    case "flag":
      return typeof value === "boolean";
    case "map":
      return isRecord(value) && Object.values(value).every((each) => typeof each === "string");
    case "texts":
      return isTexts(value);
  }
}

function isListShape(shape: Shape): shape is readonly [ObjectShape] {
  return Array.isArray(shape);
}
