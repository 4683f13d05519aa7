// The node and the time that the page shows, kept in the address as #type/id/time.
export interface Place {
  type: string;
  id: string;
  at: string; // empty: the last time
}

export function readPlace(): Place | null {
  const parts = location.hash.slice(1).split("/");
  if (parts.length < 2) return null;
  try {
    const [type, id, at] = parts.map(decodeURIComponent);
    return type && id ? { type, id, at: at ?? "" } : null;
  } catch {
    return null; // not an address of ours
  }
}

export function placeLink({ type, id, at }: Place): string {
  return `#${[type, id, ...(at ? [at] : [])].map(encodeURIComponent).join("/")}`;
}
