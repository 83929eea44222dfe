import { Tag } from '@blueprintjs/core';

export const GroupTags = ({ groups }: { readonly groups: readonly string[] }) => (
  <span className="tag-list">
    {groups.map((group) => (
      <Tag key={group} minimal round>
        {group}
      </Tag>
    ))}
  </span>
);
