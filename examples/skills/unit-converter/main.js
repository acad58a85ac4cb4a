// Converts a value from one unit to another. All parameters arrive as one JSON object in SKILL_PARAMETERS.
"use strict";

// What a unit measures, and how many of the base unit it is; temperatures have an offset too.
const UNITS = {
  m: ["length", 1], km: ["length", 1000], ft: ["length", 0.3048], mi: ["length", 1609.344],
  g: ["weight", 1], kg: ["weight", 1000], lb: ["weight", 453.59237],
  c: ["temperature", 1, 0], f: ["temperature", 5 / 9, -32],
};

function convert({ value, from, to }) {
  const [kind, factor, offset = 0] = UNITS[from];
  const [other, divisor, shift = 0] = UNITS[to];
  if (kind !== other) {
    return { error: `${from} is a ${kind}, ${to} a ${other}` };
  }
  const result = ((value + offset) * factor) / divisor - shift;
  return { value, from, to, result: Number(result.toPrecision(12)) };
}

const answer = convert(JSON.parse(process.env.SKILL_PARAMETERS || "{}"));
console.log(JSON.stringify(answer));
process.exitCode = answer.error ? 1 : 0;
