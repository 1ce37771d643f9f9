package confluence

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian"
	"docent/shared/filter"
	"docent/shared/source"
)

// readsFile reports whether files like that of an attachment are read.
func (r *reading) readsFile(c content) bool {
	_, read := source.FileType(c.Title, c.Extensions.MediaType)
	return read && isAttachmentID(c.ID)
}

// attachmentItem returns an attachment of a page, which the same people may read.
func (r *reading) attachmentItem(ctx context.Context, c, on content) source.Item {
	i := source.Item{URI: r.attachmentURI(on.ID, c.ID, c.Title), Title: source.ClipTitle(c.Title + " (" + on.Title + ")"), Access: r.audience(on).Names()}
	r.fill(ctx, &i, c, on.ID)
	i.Metadata["type"] = filter.Text("attachment")
	if title := atlassian.Fact(on.Title, atlassian.MaxFact); title != "" {
		i.Metadata["page"] = filter.Text(title)
	}
	mediaType, _ := source.FileType(c.Title, c.Extensions.MediaType)
	i.File = &source.File{MediaType: mediaType, Bytes: c.Extensions.FileSize, Read: func(ctx context.Context) ([]byte, error) {
		if c.unread {
			return nil, &source.SyncError{Code: source.Unreadable, Detail: notReturned}
		}
		return r.download(ctx, c, on.ID)
	}}
	return i
}

// download returns the file of an attachment. The Cloud has an operation for that; the link of a Data Center names the
// version.
func (r *reading) download(ctx context.Context, c content, page id) ([]byte, error) {
	what := "an attachment of the space " + r.space
	if r.Cloud {
		path := "/rest/api/content/" + string(page) + "/child/attachment/" + string(c.ID) + "/download"
		if c.Version.Number > 0 {
			path += "?version=" + strconv.Itoa(c.Version.Number)
		}
		return r.Download(ctx, what, path)
	}
	link, err := url.Parse(c.Links.Download)
	if err != nil || link.Host != "" || link.Scheme != "" || !strings.HasPrefix(link.Path, "/download/attachments/"+string(page)+"/") || strings.Contains(link.Path, "..") {
		return nil, &source.FileError{Why: "Confluence sent an invalid address of it"}
	}
	return r.Download(ctx, what, link.String())
}

// tooMany is the notice about a space with more attachments than are read.
func (r *reading) tooMany() *source.SyncError {
	return &source.SyncError{Code: source.TooLarge,
		Detail: fmt.Sprintf("The space %s has more than %d attachments of the kinds that are read. Those that were added last are read.", r.space, r.most)}
}

// attachmentURI returns the address at which browsers show or save an attachment. It ends without a fragment, so that
// one with the page of a PDF can follow.
func (r *reading) attachmentURI(page, attachment id, name string) string {
	return r.attachmentsURI(page) + url.PathEscape(name) + "?space=" + r.space + "&attachment=" + string(attachment)
}

func (r *reading) attachmentsURI(page id) string {
	return r.Base + "/download/attachments/" + string(page) + "/"
}

// attachmentOf returns the ids in the URI of an attachment of the space. ok is false for another URI.
func (r *reading) attachmentOf(uri string) (page, attachment id, ok bool) {
	rest, found := strings.CutPrefix(uri, strings.TrimSuffix(r.attachmentsURI(""), "/"))
	number, rest, _ := strings.Cut(rest, "/")
	name, query, asked := strings.Cut(rest, "?space="+r.space+"&attachment=")
	if !found || !asked || name == "" || !isNumber(number) || !isAttachmentID(id(query)) {
		return "", "", false
	}
	return id(number), id(query), true
}

// isAttachmentID reports whether i is an id as the Cloud has them, or a Data Center.
func isAttachmentID(i id) bool { return isNumber(strings.TrimPrefix(string(i), "att")) }
