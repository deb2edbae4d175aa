// SPDX-License-Identifier: Apache-2.0
/** Reads udev rules for the udev of the fake kernel. A rule with a key that is not supported here never matches. */

/** A network interface as rules see it. */
export interface RuleDevice {
  readonly action: "add" | "move";
  readonly name: string;
  /** Address of the PCI function that is the parent of the interface; undefined for a virtual interface. */
  readonly parent: string | undefined;
  readonly driver: string | undefined;
  /** Attributes of the interface, such as phys_port_name. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
  /** Reports whether a file of sysfs exists. */
  readonly exists: (path: string) => boolean;
}

export interface RuleResult {
  /** Absent if no rule sets a name. */
  readonly name?: string;
  readonly properties: ReadonlyMap<string, string>;
}

interface RulePart {
  readonly key: string;
  /** The text in braces: "phys_port_name" of ATTR{phys_port_name}. */
  readonly of: string;
  readonly operator: string;
  readonly value: string;
  /** What the value matches. A PF has a rule for each of its VFs, and each interface is compared with all of them. */
  readonly pattern: RegExp;
}

export type Rule = readonly RulePart[];

/** Takes the texts of files in the order in which udev reads them. */
export function parseRules(texts: readonly string[]): readonly Rule[] {
  return texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("#"))
    .map((line) =>
      [...line.matchAll(/([A-Z]+)(?:\{([^}]*)\})?(==|!=|=)"([^"]*)"/g)].map(
        ([, key = "", of = "", operator = "", value = ""]) => ({ key, of, operator, value, pattern: globOf(value) }),
      ),
    );
}

export function applyRules(rules: readonly Rule[], device: RuleDevice): RuleResult {
  let name: string | undefined;
  const properties = new Map<string, string>();
  let skippedTo: string | undefined;
  for (const rule of rules) {
    if (skippedTo !== undefined && !rule.some(({ key, value }) => key === "LABEL" && value === skippedTo)) continue;
    skippedTo = undefined;
    if (!rule.every((part) => isAssignment(part) || matches(part, device))) continue;
    for (const { key, of, value } of rule.filter(isAssignment)) {
      if (key === "NAME") name = value;
      else if (key === "ENV") properties.set(of, value);
      else if (key === "GOTO") skippedTo = value;
    }
  }
  return { properties, ...(name !== undefined && { name }) };
}

function isAssignment({ key, operator }: RulePart): boolean {
  return operator === "=" && ["NAME", "ENV", "GOTO", "LABEL"].includes(key);
}

function matches({ key, of, operator, value, pattern }: RulePart, device: RuleDevice): boolean {
  if (operator === "=") return false; // PROGRAM, IMPORT and others
  if (key === "TEST") return device.exists(value.replaceAll("%k", device.name)) === (operator === "==");
  const found = valueOf(key, of, device);
  // As in udev, a missing attribute matches neither == nor !=.
  return found !== undefined && pattern.test(found) === (operator === "==");
}

function valueOf(key: string, of: string, device: RuleDevice): string | undefined {
  switch (key) {
    case "SUBSYSTEM":
      return "net";
    case "ACTION":
      return device.action;
    case "KERNEL":
      return device.name;
    case "KERNELS":
      return device.parent;
    case "DEVPATH":
      return device.parent === undefined ? undefined : `/devices/pci0000:00/${device.parent}/net/${device.name}`;
    case "DRIVERS":
      return device.driver;
    case "ATTR":
      return device.attributes[of];
    default:
      return undefined;
  }
}

/** Patterns of shells, and alternatives with "|". */
function globOf(pattern: string): RegExp {
  const alternatives = pattern.split("|").map((one) =>
    one
      .replaceAll(/[.+^${}()\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", "."),
  );
  return new RegExp(`^(?:${alternatives.join("|")})$`, "s"); // a file such as uevent has several lines
}
