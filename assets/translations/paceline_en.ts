<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>AnswerCard</name>
    <message numerus="yes">
        <source>Waiting for the answers in %n other chats</source>
        <translation>
            <numerusform>Waiting for the answer in another chat</numerusform>
            <numerusform>Waiting for the answers in %n other chats</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>AnswerController</name>
    <message numerus="yes">
        <source>The context is full: the %n oldest messages were left out.</source>
        <translation>
            <numerusform>The context is full: the oldest message was left out.</numerusform>
            <numerusform>The context is full: the %n oldest messages were left out.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The context is full: %n earlier questions without an answer were left out.</source>
        <translation>
            <numerusform>The context is full: an earlier question without an answer was left out.</numerusform>
            <numerusform>The context is full: %n earlier questions without an answer were left out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Attachments</name>
    <message numerus="yes">
        <source>about {count} tokens</source>
        <translation>
            <numerusform>about {count} token</numerusform>
            <numerusform>about {count} tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChatSettings</name>
    <message numerus="yes">
        <source>%n values set for this chat</source>
        <translation>
            <numerusform>%n value set for this chat</numerusform>
            <numerusform>%n values set for this chat</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message numerus="yes">
        <source>{count} tokens</source>
        <translation>
            <numerusform>{count} token</numerusform>
            <numerusform>{count} tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ContextMeter</name>
    <message numerus="yes">
        <source>System prompt {system}, conversation {conversation}, last answer {last} tokens.</source>
        <translation>
            <numerusform>System prompt {system}, conversation {conversation}, last answer {last} token.</numerusform>
            <numerusform>System prompt {system}, conversation {conversation}, last answer {last} tokens.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>System prompt and tools {system}, conversation {conversation}, last answer {last} tokens.</source>
        <translation>
            <numerusform>System prompt and tools {system}, conversation {conversation}, last answer {last} token.</numerusform>
            <numerusform>System prompt and tools {system}, conversation {conversation}, last answer {last} tokens.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ConversationMenu</name>
    <message numerus="yes">
        <source>Archive %n chats</source>
        <translation>
            <numerusform>Archive %n chat</numerusform>
            <numerusform>Archive %n chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %n chats</source>
        <translation>
            <numerusform>Delete %n chat</numerusform>
            <numerusform>Delete %n chats</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ConversationModel</name>
    <message numerus="yes">
        <source>Folder {text}, %n chats, {state}</source>
        <translation>
            <numerusform>Folder {text}, %n chat, {state}</numerusform>
            <numerusform>Folder {text}, %n chats, {state}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{text}, %n chats, {state}</source>
        <translation>
            <numerusform>{text}, %n chat, {state}</numerusform>
            <numerusform>{text}, %n chats, {state}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DeletionController</name>
    <message numerus="yes">
        <source>Deleted %n messages.</source>
        <translation>
            <numerusform>Deleted %n message.</numerusform>
            <numerusform>Deleted %n messages.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Deleted the folder “{name}”; its %n chats were kept.</source>
        <translation>
            <numerusform>Deleted the folder “{name}”; its chat was kept.</numerusform>
            <numerusform>Deleted the folder “{name}”; its %n chats were kept.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count} days left</source>
        <translation>
            <numerusform>{count} day left</numerusform>
            <numerusform>{count} days left</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Deleted %n chats.</source>
        <translation>
            <numerusform>Deleted %n chat.</numerusform>
            <numerusform>Deleted %n chats.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DownloadsPage</name>
    <message numerus="yes">
        <source>%n downloading</source>
        <translation>
            <numerusform>%n downloading</numerusform>
            <numerusform>%n downloading</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EnginesPage</name>
    <message numerus="yes">
        <source>%n models</source>
        <translation>
            <numerusform>%n model</numerusform>
            <numerusform>%n models</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FileTable</name>
    <message numerus="yes">
        <source>%n parts</source>
        <translation>
            <numerusform>%n part</numerusform>
            <numerusform>%n parts</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message numerus="yes">
        <source>{number} layers on {device}</source>
        <translation>
            <numerusform>{number} layer on {device}</numerusform>
            <numerusform>{number} layers on {device}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>experts of {number} layers in main memory</source>
        <translation>
            <numerusform>experts of {number} layer in main memory</numerusform>
            <numerusform>experts of {number} layers in main memory</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{number} layers on the GPU</source>
        <translation>
            <numerusform>{number} layer on the GPU</numerusform>
            <numerusform>{number} layers on the GPU</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>HubController</name>
    <message numerus="yes">
        <source>Searched {folder}: %n models.</source>
        <translation>
            <numerusform>Searched {folder}: %n model.</numerusform>
            <numerusform>Searched {folder}: %n models.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LibraryPage</name>
    <message numerus="yes">
        <source>%n models · {total} in the models folder</source>
        <translation>
            <numerusform>%n model · {total} in the models folder</numerusform>
            <numerusform>%n models · {total} in the models folder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n models</source>
        <translation>
            <numerusform>%n model</numerusform>
            <numerusform>%n models</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LocalServer</name>
    <message numerus="yes">
        <source>{number} requests answered</source>
        <translation>
            <numerusform>{number} request answered</numerusform>
            <numerusform>{number} requests answered</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{number} waiting</source>
        <translation>
            <numerusform>{number} waiting</numerusform>
            <numerusform>{number} waiting</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PassTip</name>
    <message numerus="yes">
        <source>One pass of the target: {accepted} of %n proposed tokens accepted.</source>
        <translation>
            <numerusform>One pass of the target: {accepted} of %n proposed token accepted.</numerusform>
            <numerusform>One pass of the target: {accepted} of %n proposed tokens accepted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more tokens</source>
        <translation>
            <numerusform>and %n more token</numerusform>
            <numerusform>and %n more tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectPage</name>
    <message numerus="yes">
        <source>%Ln files</source>
        <translation>
            <numerusform>%Ln file</numerusform>
            <numerusform>%Ln files</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln passages</source>
        <translation>
            <numerusform>%Ln passage</numerusform>
            <numerusform>%Ln passages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>… and %Ln more</source>
        <translation>
            <numerusform>… and %Ln more</numerusform>
            <numerusform>… and %Ln more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln could not be read</source>
        <translation>
            <numerusform>%Ln could not be read</numerusform>
            <numerusform>%Ln could not be read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Projects</name>
    <message numerus="yes">
        <source>%Ln files could not be read, and were left out.</source>
        <translation>
            <numerusform>%Ln file could not be read, and was left out.</numerusform>
            <numerusform>%Ln files could not be read, and were left out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Race</name>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>With %n pictures</source>
        <translation>
            <numerusform>With %n picture</numerusform>
            <numerusform>With %n pictures</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>With the %n earlier messages of the chat</source>
        <translation>
            <numerusform>With the one earlier message of the chat</numerusform>
            <numerusform>With the %n earlier messages of the chat</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n threads at the end</source>
        <translation>
            <numerusform>%n thread at the end</numerusform>
            <numerusform>%n threads at the end</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rounds</source>
        <translation>
            <numerusform>%n round</numerusform>
            <numerusform>%n rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rounds are over</source>
        <translation>
            <numerusform>%n round is over</numerusform>
            <numerusform>%n rounds are over</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layers on the GPU</source>
        <translation>
            <numerusform>%n layer on the GPU</numerusform>
            <numerusform>%n layers on the GPU</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>over %n rounds</source>
        <translation>
            <numerusform>one round</numerusform>
            <numerusform>over %n rounds</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RemoteServersController</name>
    <message numerus="yes">
        <source>Connected to {host}: %n models.</source>
        <translation>
            <numerusform>Connected to {host}: %n model.</numerusform>
            <numerusform>Connected to {host}: %n models.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RepoPane</name>
    <message numerus="yes">
        <source>{compact} downloads</source>
        <translation>
            <numerusform>{compact} download</numerusform>
            <numerusform>{compact} downloads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SearchPage</name>
    <message numerus="yes">
        <source>%n models</source>
        <translation>
            <numerusform>%n model</numerusform>
            <numerusform>%n models</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{compact} downloads</source>
        <translation>
            <numerusform>{compact} download</numerusform>
            <numerusform>{compact} downloads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SummaryLine</name>
    <message numerus="yes">
        <source>Summarising the %n oldest messages</source>
        <translation>
            <numerusform>Summarising the %n oldest message</numerusform>
            <numerusform>Summarising the %n oldest messages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n words</source>
        <translation>
            <numerusform>%n word</numerusform>
            <numerusform>%n words</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ToolServers</name>
    <message numerus="yes">
        <source>%n tools</source>
        <translation>
            <numerusform>%n tool</numerusform>
            <numerusform>%n tools</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TransferController</name>
    <message numerus="yes">
        <source>%Ln chats exported to {name}.</source>
        <translation>
            <numerusform>%Ln chat exported to {name}.</numerusform>
            <numerusform>%Ln chats exported to {name}.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>WelcomePage</name>
    <message numerus="yes">
        <source>Show all %n</source>
        <translation>
            <numerusform>Show it</numerusform>
            <numerusform>Show all %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show all %n models found here</source>
        <translation>
            <numerusform>Show the model found here</numerusform>
            <numerusform>Show all %n models found here</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message numerus="yes">
        <source>%n days ago</source>
        <translation>
            <numerusform>%n day ago</numerusform>
            <numerusform>%n days ago</numerusform>
        </translation>
    </message>
</context>
</TS>
